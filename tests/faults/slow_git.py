"""A git server that takes its time, so that work on submissions does too."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass

from litestar.types import ASGIApp, Receive, Scope, Send


@dataclass
class SlowGit:
    """A git server whose every answer takes a while, so that places stay busy."""

    application: ASGIApp
    longest_s: float = 0.8

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(random.uniform(0, self.longest_s))
        await self.application(scope, receive, send)
