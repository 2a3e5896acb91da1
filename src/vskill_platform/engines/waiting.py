"""How an engine waits for something to arrive, without holding anything that a cancelled waiter could lose."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from vskill_platform.ports.clock import Clock


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
    signal: Signal, clock: Clock, *, next_ready_ms: Callable[[], int | None], wait_s: float
) -> None:
    """Return once `next_ready_ms` is not in the future, looking again at each signal; or after `wait_s`.

    `next_ready_ms` gives the moment at which something is ready as far as is known now, None if nothing is.
    """
    deadline_ms = clock.now_ms() + wait_s * 1000
    while True:
        arrival = signal.next()
        ready_ms = next_ready_ms()
        now_ms = clock.now_ms()
        if (ready_ms is not None and ready_ms <= now_ms) or now_ms >= deadline_ms:
            return
        until_ms = deadline_ms if ready_ms is None else min(deadline_ms, ready_ms)
        try:
            async with clock.timeout((until_ms - now_ms) / 1000):
                await arrival.wait()
        except TimeoutError:
            continue
