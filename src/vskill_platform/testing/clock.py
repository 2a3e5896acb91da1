"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from vskill_platform.ports.engine import Engine

START_MS = 1_771_668_000_000
"""2026-02-21T10:00:00Z."""


@dataclass(order=True, slots=True)
class _Timer:
    at_ms: float
    number: int
    fire: Callable[[], None] = field(compare=False)
    is_cancelled: bool = field(default=False, compare=False)


class FakeClock:
    """Time that passes only by `advance` (which wakes sleepers in order) and `shift` (which jumps and wakes nobody)."""

    def __init__(self, start_ms: int = START_MS) -> None:
        self._now_ms = float(start_ms)
        self._timers: list[_Timer] = []
        self._numbers = itertools.count()
        self._engines: list[Engine] = []

    def wait_for_threads_of(self, engine: Engine) -> None:
        """From now on `advance` lets calls that are under way in this engine's threads end before time goes on."""
        self._engines.append(engine)

    def now_ms(self) -> int:
        """The time the test set."""
        return int(self._now_ms)

    @property
    def sleepers(self) -> int:
        """How many sleeps and timeouts are waiting."""
        return sum(not timer.is_cancelled for timer in self._timers)

    async def sleep(self, seconds: float) -> None:
        """Wait until a test has advanced the clock this far."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        timer = self._call_in(seconds, lambda: None if woken.done() else woken.set_result(None))
        try:
            await woken
        finally:
            timer.is_cancelled = True

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[asyncio.Timeout]:
        """A timeout that runs out when a test has advanced the clock this far."""
        return self._timeout(seconds)

    @asynccontextmanager
    async def _timeout(self, seconds: float) -> AsyncIterator[asyncio.Timeout]:
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(None) as scope:
            timer = self._call_in(seconds, lambda: scope.reschedule(loop.time()))
            try:
                yield scope
            finally:
                timer.is_cancelled = True

    def _call_in(self, seconds: float, fire: Callable[[], None]) -> _Timer:
        timer = _Timer(self._now_ms + seconds * 1000, next(self._numbers), fire)
        if seconds <= 0:
            fire()
            return timer
        heapq.heappush(self._timers, timer)
        return timer

    def shift(self, seconds: float) -> None:
        """Jump, forwards or backwards, without waking anybody."""
        self._now_ms += seconds * 1000

    async def advance(self, seconds: float) -> None:
        """Let time pass, waking each sleeper at its moment and letting it run before time goes on."""
        until = self._now_ms + seconds * 1000
        while self._timers and self._timers[0].at_ms <= until:
            timer = heapq.heappop(self._timers)
            if timer.is_cancelled:
                continue
            self._now_ms = max(self._now_ms, timer.at_ms)
            timer.fire()
            await self._let_all_run()
        self._now_ms = until
        await self._let_all_run()

    async def _let_all_run(self) -> None:
        await run_ready_tasks()
        for engine in self._engines * 3:
            # Each goes to the end of a line, so what stood in it before has been done when it returns.
            await engine.queue.extend([], lease_s=1)
            await engine.queue.find([])
            await run_ready_tasks()


async def run_ready_tasks(rounds: int = 25) -> None:
    """Give every task that can run the chance to, a few hand-overs deep."""
    for _ in range(rounds):
        await asyncio.sleep(0)
