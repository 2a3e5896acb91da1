"""The event log."""

from __future__ import annotations

from vskill_platform.domain.catalog import MAX_NUMBER, MIN_NUMBER
from vskill_platform.engines.postgres.notices import Notices
from vskill_platform.engines.postgres.readers import Readers
from vskill_platform.engines.postgres.texts import from_stored
from vskill_platform.engines.postgres.times import Times
from vskill_platform.engines.waiting import wait_until_ready
from vskill_platform.ports.events import MAX_EVENTS_PAGE, Event, EventPage
from vskill_platform.ports.kv import check_limit

_LAST = "SELECT coalesce((SELECT max(sequence) FROM event), 0) AS last"
# The bounds and the events of one moment; a page without events gives one row.
_READ = """
SELECT floor, newest, sequence, at_ms, kind, subject, data
FROM (
    SELECT coalesce((SELECT last FROM event_floor), 0) AS floor, coalesce((SELECT max(sequence) FROM event), 0) AS newest
) AS bounds
LEFT JOIN (SELECT * FROM event WHERE sequence > $1 ORDER BY sequence LIMIT $2) AS page ON true
ORDER BY sequence
"""
_FIRST_KEPT = """
SELECT coalesce((SELECT min(sequence) FROM event WHERE at_ms >= $1), (SELECT max(sequence) FROM event), 0) AS first_kept
"""
_TRIM = """
WITH gone AS (
    DELETE FROM event WHERE sequence = ANY (ARRAY(SELECT sequence FROM event WHERE sequence < $1 ORDER BY sequence LIMIT $2))
    RETURNING sequence
), floor AS (
    INSERT INTO event_floor AS old (last) SELECT max(sequence) FROM gone HAVING count(*) > 0
    ON CONFLICT (is_only) DO UPDATE SET last = greatest(old.last, excluded.last)
)
SELECT count(*) FROM gone
"""


class PostgresEvents:
    """Events over the readers."""

    def __init__(self, readers: Readers, times: Times, notices: Notices) -> None:
        self._readers = readers
        self._times = times
        self._notices = notices

    async def read(self, after: int, *, limit: int = MAX_EVENTS_PAGE, wait_s: float = 0.0) -> EventPage:
        """Events after a cursor."""
        check_limit(limit, most=MAX_EVENTS_PAGE)
        page = await self._read(after, limit)
        if page.events or page.reset or wait_s <= 0:
            return page
        await wait_until_ready(
            self._notices.emissions, self._times.clock, next_ready_ms=lambda: self._ready_ms(after), wait_s=wait_s
        )
        return await self._read(after, limit)

    async def _ready_ms(self, after: int) -> int:
        has_more = await self.last_sequence() != after
        return self._times.clock.now_ms() if has_more else self._notices.next_look_ms()

    async def _read(self, after: int, limit: int) -> EventPage:
        rows = await self._readers.fetch(_READ, min(max(after, MIN_NUMBER), MAX_NUMBER), limit)
        floor, newest, first, *_ = rows[0]
        if not floor <= after <= newest:
            return EventPage([], newest, reset=True)
        if first is None:
            return EventPage([], after, reset=False)
        events = [
            Event(sequence, at_ms, from_stored(kind), from_stored(subject), data)
            for _, _, sequence, at_ms, kind, subject, data in rows
        ]
        return EventPage(events, events[-1].sequence, reset=False)

    async def last_sequence(self) -> int:
        """The newest event's sequence."""
        last: int = (await self._readers.fetch_one(_LAST))["last"]
        return last

    async def trim(self, *, before_ms: int) -> int:
        """Forget old events."""
        row = await self._readers.fetch_one(_FIRST_KEPT, min(max(before_ms, MIN_NUMBER), MAX_NUMBER))
        return await self._readers.remove_in_parts(_TRIM, row["first_kept"])
