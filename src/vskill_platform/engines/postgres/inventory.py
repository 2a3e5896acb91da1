"""Everything in the database as of one moment: one read-only transaction on a connection of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

import asyncpg

from vskill_platform.domain.delivery import LAPSED_ERROR
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.engines.postgres.batch import STATUSES
from vskill_platform.engines.postgres.connection import Access, translated_errors
from vskill_platform.engines.postgres.queue import MESSAGES_NOW
from vskill_platform.engines.postgres.texts import from_stored
from vskill_platform.ports.events import Event
from vskill_platform.ports.inventory import KeptEntry, KeptMessage

T = TypeVar("T")
_CHUNK_ROWS = 100
# Whoever takes an inventory may be busy with other things in between, for as long as that takes.
_PATIENT = {"idle_in_transaction_session_timeout": "0"}

_ENTRIES = "SELECT key, value, expires_ms, due_ms FROM kv WHERE expires_ms IS NULL OR expires_ms > $1 ORDER BY key"
_MESSAGES = f"{MESSAGES_NOW} ORDER BY number"
_EVENTS = "SELECT sequence, at_ms, kind, subject, data FROM event ORDER BY sequence"


@asynccontextmanager
async def take_inventory(
    access: Access, *, asked_ms: int | None, max_attempts: int
) -> AsyncIterator[PostgresInventory]:
    """The inventory of a database, as of the moment the block begins."""
    connection = await access.connect(_PATIENT)
    try:
        with translated_errors(access):
            await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            now_ms = await connection.fetchval("SELECT moment($1)", asked_ms)  # the first statement settles the moment
        yield PostgresInventory(connection, access, now_ms=now_ms, max_attempts=max_attempts)
    finally:
        connection.terminate()


class PostgresInventory:
    """Inventory over one transaction."""

    def __init__(self, connection: asyncpg.Connection, access: Access, *, now_ms: int, max_attempts: int) -> None:
        self._connection = connection
        self._access = access
        self._now_ms = now_ms
        self._max_attempts = max_attempts

    def entries(self) -> AsyncIterator[Sequence[KeptEntry]]:
        """Every key."""
        return self._read(lambda row: KeptEntry(*row), _ENTRIES, self._now_ms)

    def messages(self) -> AsyncIterator[Sequence[KeptMessage]]:
        """Every message."""
        return self._read(_keep, _MESSAGES, self._now_ms, self._max_attempts, LAPSED_ERROR)

    def events(self) -> AsyncIterator[Sequence[Event]]:
        """Every event."""
        return self._read(_event, _EVENTS)

    async def _read(self, make: Callable[[asyncpg.Record], T], sql: str, *values: object) -> AsyncIterator[Sequence[T]]:
        """Chunks of rows, through a cursor of the server."""
        with translated_errors(self._access):
            cursor = await self._connection.cursor(sql, *values)
        while True:
            with translated_errors(self._access):
                rows = await cursor.fetch(_CHUNK_ROWS)
            if not rows:
                return
            yield [make(row) for row in rows]


def _event(row: asyncpg.Record) -> Event:
    sequence, at_ms, kind, subject, data = row
    return Event(sequence, at_ms, from_stored(kind), from_stored(subject), data)


def _keep(row: asyncpg.Record) -> KeptMessage:
    status = STATUSES[row["status"]]
    return KeptMessage(
        id=MessageId(from_stored(row["id"])),
        queue=from_stored(row["queue"]),
        body=row["body"],
        priority=row["priority"],
        status=status,
        attempts=row["attempts"],
        sent_ms=row["sent_ms"],
        ready_ms=row["at_ms"] if status is MessageStatus.DELAYED else None,
        error=None if row["error"] is None else from_stored(row["error"]),
        is_suspect=row["suspect"],
    )
