"""The event log."""

from __future__ import annotations

import apsw

from vskill_platform.engines.sqlite.connection import fetch_all
from vskill_platform.engines.sqlite.readers import Readers
from vskill_platform.engines.sqlite.writer import ROWS_AT_A_TIME, Transaction, Writer
from vskill_platform.engines.waiting import Signal, wait_until_ready
from vskill_platform.ports.clock import Clock
from vskill_platform.ports.events import MAX_EVENTS_PAGE, Event, EventPage
from vskill_platform.ports.kv import check_limit

_BOUNDS = """
SELECT coalesce((SELECT min(sequence) FROM event), 1) - 1, coalesce((SELECT max(sequence) FROM event), 0)
"""
_READ = "SELECT sequence, at_ms, kind, subject, data FROM event WHERE sequence > ? ORDER BY sequence LIMIT ?"
_FIRST_KEPT = """
SELECT coalesce((SELECT min(sequence) FROM event WHERE at_ms >= ?), (SELECT max(sequence) FROM event), 0)
"""
_TRIM = "DELETE FROM event WHERE sequence IN (SELECT sequence FROM event WHERE sequence < ? ORDER BY sequence LIMIT ?)"


class SqliteEvents:
    """Events over the readers; the newest sequence is kept at hand, so that a waiting reader costs nothing."""

    def __init__(self, writer: Writer, readers: Readers, clock: Clock, emissions: Signal) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock
        self._emissions = emissions
        _, self._last = readers.point(_bounds)

    def note_emitted(self, last: int) -> None:
        """A group has committed events up to this one."""
        self._last = last
        self._emissions.notify()

    def note_closed(self) -> None:
        """Wake whoever waits: nothing more will come."""
        self._emissions.notify()

    async def read(self, after: int, *, limit: int = MAX_EVENTS_PAGE, wait_s: float = 0.0) -> EventPage:
        """Events after a cursor."""
        check_limit(limit, most=MAX_EVENTS_PAGE)
        if after == self._last:
            await wait_until_ready(
                self._emissions, self._clock, next_ready_ms=lambda: self._ready_ms(after), wait_s=wait_s
            )
        return await self._readers.bulk(lambda connection: _read(connection, after, limit))

    async def _ready_ms(self, after: int) -> int | None:
        self._readers.check_open()
        return None if after == self._last else self._clock.now_ms()

    async def last_sequence(self) -> int:
        """The newest event's sequence."""
        self._readers.check_open()
        return self._last

    async def trim(self, *, before_ms: int) -> int:
        """Forget old events."""
        [[first_kept]] = await self._readers.bulk(lambda connection: fetch_all(connection, _FIRST_KEPT, (before_ms,)))

        def work(transaction: Transaction) -> int:
            transaction.connection.execute(_TRIM, (first_kept, ROWS_AT_A_TIME))
            return transaction.connection.changes()

        return await self._writer.run_in_parts(work)


def _bounds(connection: apsw.Connection) -> tuple[int, int]:
    before_oldest, newest = fetch_all(connection, _BOUNDS)[0]
    return before_oldest, newest


def _read(connection: apsw.Connection, after: int, limit: int) -> EventPage:
    with connection:  # the bounds and the events of one moment
        before_oldest, newest = _bounds(connection)
        if not before_oldest <= after <= newest:
            return EventPage([], newest, reset=True)
        events = [Event(*row) for row in connection.execute(_READ, (after, limit))]
    return EventPage(events, events[-1].sequence if events else after, reset=False)
