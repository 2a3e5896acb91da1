"""Time, handed in."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractAsyncContextManager
from typing import Protocol


class Clock(Protocol):
    """The only source of time for everything above the engines' drivers."""

    def now_ms(self) -> int:
        """Milliseconds since 1970, UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return once that many seconds of this clock have passed. Zero or less yields once."""
        ...

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[asyncio.Timeout]:
        """Cancel the body after that many seconds of this clock and raise TimeoutError, as `asyncio.timeout` does."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Milliseconds since 1970 by the machine's wall clock."""
        return time.time_ns() // 1_000_000

    async def sleep(self, seconds: float) -> None:
        """Sleep on the event loop."""
        await asyncio.sleep(max(seconds, 0.0))

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[asyncio.Timeout]:
        """`asyncio.timeout`."""
        return asyncio.timeout(seconds)
