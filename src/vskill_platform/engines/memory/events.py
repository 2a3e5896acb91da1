"""The memory engine's event log."""

from __future__ import annotations

from bisect import bisect_right

from vskill_platform.engines.memory.state import MemoryState
from vskill_platform.engines.waiting import wait_until_ready
from vskill_platform.ports.events import MAX_EVENTS_PAGE, EventPage
from vskill_platform.ports.kv import check_limit


class MemoryEvents:
    """Events over a MemoryState."""

    def __init__(self, state: MemoryState) -> None:
        self._state = state

    async def read(self, after: int, *, limit: int = MAX_EVENTS_PAGE, wait_s: float = 0.0) -> EventPage:
        """Events after a cursor."""
        check_limit(limit, most=MAX_EVENTS_PAGE)
        await wait_until_ready(
            self._state.emissions, self._state.clock, next_ready_ms=lambda: self._ready_ms(after), wait_s=wait_s
        )
        newest, kept = self._state.event_sequence, self._state.events
        before_oldest = kept[0].sequence - 1 if kept else newest
        if not before_oldest <= after <= newest:
            return EventPage([], newest, reset=True)
        first = bisect_right(kept, after, key=lambda event: event.sequence)
        events = kept[first : first + limit]
        return EventPage(events, events[-1].sequence if events else after, reset=False)

    async def _ready_ms(self, after: int) -> int | None:
        self._state.check_open()
        return None if after == self._state.event_sequence else self._state.clock.now_ms()

    async def last_sequence(self) -> int:
        """The newest event's sequence."""
        self._state.check_open()
        return self._state.event_sequence

    async def trim(self, *, before_ms: int) -> int:
        """Forget old events."""
        self._state.check_open()
        events = self._state.events
        keep = next((i for i, event in enumerate(events) if event.at_ms >= before_ms), max(len(events) - 1, 0))
        del events[:keep]
        return keep
