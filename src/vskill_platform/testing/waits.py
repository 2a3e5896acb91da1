"""Waiting for what other tasks and threads bring about, without guessing how long it takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from inspect import isawaitable
from typing import TypeVar

from vskill_platform.testing.clock import FakeClock

T = TypeVar("T")
LIMIT_S = 20.0


async def eventually(
    holds: Callable[[], bool | Awaitable[bool]], *, what: str, limit_s: float = LIMIT_S, look_s: float = 0.0
) -> None:
    """Return once the condition holds, looking each time the event loop has gone round. Raises after a real time limit.

    For what other processes bring about, `look_s` leaves them the processor between two looks.
    """
    try:
        async with asyncio.timeout(limit_s):
            while not await _value(holds()):  # noqa: ASYNC110 - what is waited for has no event of its own
                await asyncio.sleep(look_s)
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


async def check_asleep(clock: FakeClock, task: asyncio.Task[T], *, sleepers: int = 1) -> None:
    """Let the task run until so many wait for the clock, and fail if it ends instead."""
    async with asyncio.timeout(LIMIT_S):
        # The pause leaves the processor to an engine's threads: nobody signals that a call has gone to sleep.
        while clock.sleepers < sleepers and not task.done():  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    assert not task.done(), "the call returned instead of waiting"


@asynccontextmanager
async def in_background(clock: FakeClock, call: Coroutine[object, object, T]) -> AsyncIterator[asyncio.Task[T]]:
    """Run a call until it waits for the clock; what is left of it at the end is cancelled."""
    sleepers = clock.sleepers + 1
    task = asyncio.create_task(call)
    try:
        await check_asleep(clock, task, sleepers=sleepers)
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


async def finish(task: asyncio.Task[T]) -> T:
    """What the call returns, which must be soon."""
    async with asyncio.timeout(LIMIT_S):
        return await task
