"""Everything in a database file as of one moment: one read transaction on a connection of its own.

It works on the file of a registry that runs, from any process: a reader in WAL mode neither waits for the writer nor keeps it
waiting. While the block lasts the log of the file cannot be started over, so the file beside the database grows.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import apsw

from vskill_platform.domain.delivery import LAPSED_ERROR, MAX_ATTEMPTS
from vskill_platform.domain.errors import DatabaseOutdated
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.engines.sqlite.connection import open_reader, translated_errors
from vskill_platform.engines.sqlite.queue import MESSAGES_NOW
from vskill_platform.engines.sqlite.schema import check_ours, migrations
from vskill_platform.engines.sqlite.timers import STATUSES
from vskill_platform.ports.events import Event
from vskill_platform.ports.inventory import KeptEntry, KeptMessage

T = TypeVar("T")
_CHUNK_ROWS = 1000
_CHUNK_BYTES = 4 * 1024 * 1024

_ENTRIES = """
SELECT key, value, expires_ms, due_ms FROM kv
WHERE key > :after AND (expires_ms IS NULL OR expires_ms > :now_ms) ORDER BY key LIMIT :limit
"""
_MESSAGES = f"""
SELECT number, body, id, queue, status, attempts, sent_ms, at_ms, error, suspect, priority
FROM ({MESSAGES_NOW} WHERE number > :after) ORDER BY number LIMIT :limit
"""
_EVENTS = (
    "SELECT sequence, data, at_ms, kind, subject FROM event WHERE sequence > :after ORDER BY sequence LIMIT :limit"
)


@asynccontextmanager
async def take_inventory(
    path: Path, *, now_ms: int, max_attempts: int = MAX_ATTEMPTS, vfs: str | None = None
) -> AsyncIterator[SqliteInventory]:
    """The inventory of a file. Raises EngineRefused for one that is not ours or has another schema than this version's."""
    connection = await asyncio.to_thread(_begin, path, vfs)
    try:
        yield SqliteInventory(connection, path, now_ms=now_ms, max_attempts=max_attempts)
    finally:
        await asyncio.to_thread(connection.close)


def _begin(path: Path, vfs: str | None) -> apsw.Connection:
    with translated_errors(path):
        connection = open_reader(path, vfs=vfs)
        try:
            connection.execute("BEGIN")  # the first read, next, settles the moment
            version = check_ours(connection, path)
            if version != len(migrations()):
                raise DatabaseOutdated(
                    f"{path} has schema {version}, and this version reads {len(migrations())}. Start the registry with this "
                    "version once (vskill-platform up), which brings the file up to date.",
                    path=str(path),
                    version=version,
                )
        except BaseException:
            connection.close()
            raise
        return connection


class SqliteInventory:
    """Inventory over one read transaction."""

    def __init__(self, connection: apsw.Connection, path: Path, *, now_ms: int, max_attempts: int) -> None:
        self._connection = connection
        self._path = path
        self._bindings = {
            "now_ms": now_ms,
            "max_attempts": max_attempts,
            "lapsed_error": LAPSED_ERROR,
            "limit": _CHUNK_ROWS,
        }

    def entries(self) -> AsyncIterator[Sequence[KeptEntry]]:
        """Every key."""
        return self._read(_ENTRIES, lambda row: KeptEntry(*row), first="")

    def messages(self) -> AsyncIterator[Sequence[KeptMessage]]:
        """Every message."""
        return self._read(_MESSAGES, _keep, first=0)

    def events(self) -> AsyncIterator[Sequence[Event]]:
        """Every event."""
        return self._read(_EVENTS, lambda row: Event(row[0], row[2], row[3], row[4], row[1]), first=0)

    async def _read(self, sql: str, make: Callable[[Any], T], *, first: str | int) -> AsyncIterator[Sequence[T]]:
        """Chunks of rows, each after the last of the one before by its first column."""
        after = first
        while True:
            rows = await asyncio.to_thread(self._fetch, sql, after)
            if not rows:
                return
            yield [make(row) for row in rows]
            after = rows[-1][0]

    def _fetch(self, sql: str, after: str | int) -> list[Any]:
        """Rows up to a number of rows or of bytes; the bytes of a row are in its second column."""
        rows: list[Any] = []
        size = 0
        with translated_errors(self._path):
            for row in self._connection.execute(sql, {**self._bindings, "after": after}):
                rows.append(row)
                size += len(row[1])
                if size >= _CHUNK_BYTES:
                    break
        return rows


def _keep(row: Any) -> KeptMessage:
    _, body, id, queue, status, attempts, sent_ms, at_ms, error, suspect, priority = row
    return KeptMessage(
        id=MessageId(id),
        queue=queue,
        body=body,
        priority=priority,
        status=STATUSES[status],
        attempts=attempts,
        sent_ms=sent_ms,
        ready_ms=at_ms if STATUSES[status] is MessageStatus.DELAYED else None,
        error=error,
        is_suspect=bool(suspect),
    )
