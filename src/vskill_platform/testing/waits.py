"""Waiting for what other tasks and threads bring about, without guessing how long it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable

from vskill_platform.testing.clock import FakeClock

LIMIT_S = 20.0


async def eventually(holds: Callable[[], bool | Awaitable[bool]], *, what: str) -> None:
    """Return once the condition holds, looking each time the event loop has gone round. Raises after a real time limit."""
    try:
        async with asyncio.timeout(LIMIT_S):
            while not await _value(holds()):  # noqa: ASYNC110 - what is waited for has no event of its own
                await asyncio.sleep(0)
    except TimeoutError:
        raise AssertionError(f"did not come about: {what}") from None


async def advance_until(clock: FakeClock, holds: Callable[[], bool], *, step_s: float, what: str) -> None:
    """Let time pass, a step at a time, until the condition holds. Raises after a hundred steps."""
    for _ in range(100):
        if holds():
            return
        await clock.advance(step_s)
    raise AssertionError(f"did not come about: {what}")


async def _value(found: bool | Awaitable[bool]) -> bool:
    return await found if isawaitable(found) else found
