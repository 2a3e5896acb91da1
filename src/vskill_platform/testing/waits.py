"""Waiting for what other tasks, threads and processes bring about, without guessing how long it takes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from inspect import isawaitable
from typing import Any, TypeVar

from vskill_platform.testing.clock import FakeClock

T = TypeVar("T")
What = str | Callable[[], str]
"""What is waited for, in words, or what finds the words when it did not come about."""
LIMIT_S = 20.0
PROCESS_LIMIT_S = 60.0
LOOK_S = 0.02


async def eventually(holds: Callable[[], object], *, what: What, limit_s: float = LIMIT_S, look_s: float = 0.0) -> Any:
    """Return what the condition gives, or awaits, once that is true; look each time the event loop has gone round.

    Raises after a real time limit, and says what did not come about.
    """
    try:
        async with asyncio.timeout(limit_s):
            while True:
                found = holds()
                if value := (await found if isawaitable(found) else found):
                    return value
                await asyncio.sleep(look_s)
    except TimeoutError:
        raise _failure(what) from None


async def until(holds: Callable[[], object], *, what: What) -> Any:
    """`eventually` for what other processes bring about: more patient, and it leaves them the processor between two looks."""
    return await eventually(holds, what=what, limit_s=PROCESS_LIMIT_S, look_s=LOOK_S)


def wait_until(holds: Callable[[], T], *, what: What) -> T:
    """`until` where there is no event loop."""
    deadline = time.monotonic() + PROCESS_LIMIT_S
    while not (value := holds()):
        if time.monotonic() > deadline:
            raise _failure(what)
        time.sleep(LOOK_S)
    return value


def _failure(what: What) -> AssertionError:
    return AssertionError(f"did not come about: {what() if callable(what) else what}")


async def advance_until(clock: FakeClock, holds: Callable[[], bool], *, step_s: float, what: str) -> None:
    """Let time pass, a step at a time, until the condition holds. Raises after a hundred steps."""
    for _ in range(100):
        if holds():
            return
        await clock.advance(step_s)
    raise _failure(what)


async def check_asleep(clock: FakeClock, task: asyncio.Task[T], *, sleepers: int = 1) -> None:
    """Let the task run until so many wait for the clock, and fail if it ends instead."""
    # The pause leaves the processor to an engine's threads: nobody signals that a call has gone to sleep.
    await eventually(lambda: clock.sleepers >= sleepers or task.done(), what="the call waits", look_s=0.001)
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
