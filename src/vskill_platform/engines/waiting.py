"""How an engine waits for something to arrive, without holding anything that a cancelled waiter could lose."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from vskill_platform.ports.clock import Clock
from vskill_platform.ports.queue import Message


class Signal:
    """Wakes everybody who is waiting at that moment."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def notify(self) -> None:
        """Wake all who hold the present event."""
        self._next.set()
        self._next = asyncio.Event()

    def next(self) -> asyncio.Event:
        """The event that the next `notify` sets. Take it before looking, or the wake-up in between is missed."""
        return self._next


async def wait_until_ready(
    signal: Signal, clock: Clock, *, next_ready_ms: Callable[[], Awaitable[int | None]], wait_s: float
) -> None:
    """Return once `next_ready_ms` is not in the future, looking again at each signal; or after `wait_s`.

    `next_ready_ms` gives the moment at which something is ready as far as is known now, None if nothing is.
    """
    if wait_s <= 0:
        await next_ready_ms()  # raises for an engine that was closed
        return
    try:
        async with clock.timeout(wait_s):
            await _wait_ready(signal, clock, next_ready_ms)
    except TimeoutError:
        return


async def pull_waiting(
    pull: Callable[[], Awaitable[list[Message]]],
    wait_ready: Callable[[float], Awaitable[None]],
    clock: Clock,
    *,
    wait_s: float,
) -> list[Message]:
    """Pull until something comes or the wait is over. A clock that is set back meanwhile does not make it longer."""
    remaining_ms = wait_s * 1000
    while True:
        messages = await pull()
        if messages or remaining_ms <= 0:
            return messages
        before_ms = clock.now_ms()
        await wait_ready(remaining_ms / 1000)
        remaining_ms -= max(clock.now_ms() - before_ms, 0)


async def _wait_ready(signal: Signal, clock: Clock, next_ready_ms: Callable[[], Awaitable[int | None]]) -> None:
    while True:
        arrival = signal.next()
        ready_ms = await next_ready_ms()
        now_ms = clock.now_ms()
        if ready_ms is None:
            await arrival.wait()
        elif ready_ms <= now_ms:
            return
        else:
            try:
                async with clock.timeout((ready_ms - now_ms) / 1000):
                    await arrival.wait()
            except TimeoutError:
                continue
