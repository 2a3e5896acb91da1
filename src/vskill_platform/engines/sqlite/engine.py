"""The SQLite engine's ports, put together over one file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import apsw

from vskill_platform.domain.delivery import MAX_ATTEMPTS
from vskill_platform.engines.limiter import ProcessLimiter
from vskill_platform.engines.ownership import Ownership
from vskill_platform.engines.sqlite.catalog import SqliteCatalog
from vskill_platform.engines.sqlite.commit import SqliteCommit
from vskill_platform.engines.sqlite.connection import close_quietly, configure_writer, open_writer, translated_errors
from vskill_platform.engines.sqlite.events import SqliteEvents
from vskill_platform.engines.sqlite.inventory import SqliteInventory, take_inventory
from vskill_platform.engines.sqlite.kv import SqliteKV
from vskill_platform.engines.sqlite.queue import SqliteQueue
from vskill_platform.engines.sqlite.readers import Readers
from vskill_platform.engines.sqlite.schema import check_ours, migrate
from vskill_platform.engines.sqlite.timers import end_all_leases
from vskill_platform.engines.sqlite.writer import CHECKPOINT_PAGES, GROUP_LIMIT, GroupOutcome, Writer
from vskill_platform.engines.waiting import Signal
from vskill_platform.ports.clock import Clock


class SqliteEngine:
    """Every port over one database file."""

    def __init__(
        self,
        path: Path,
        connection: apsw.Connection,
        readers: Readers,
        ownership: Ownership,
        *,
        clock: Clock,
        max_attempts: int,
        vfs: str | None,
        group_limit: int,
        checkpoint_pages: int,
    ) -> None:
        self._ownership = ownership
        self._take_inventory = partial(take_inventory, path, max_attempts=max_attempts, vfs=vfs)
        self._clock = clock
        self._arrivals = Signal()
        self._is_closed = False
        self._readers = readers
        self.writer = Writer(
            connection,
            path,
            clock=clock,
            max_attempts=max_attempts,
            on_group=self._note_group,
            group_limit=group_limit,
            checkpoint_pages=checkpoint_pages,
        )
        self.kv = SqliteKV(self._readers, clock)
        self.writes = SqliteCommit(self.writer, self._readers)
        self.queue = SqliteQueue(self.writer, self._readers, clock, self._arrivals, max_attempts=max_attempts)
        self.catalog = SqliteCatalog(self._readers, self.writer)
        self.events = SqliteEvents(self.writer, self._readers, clock, Signal())
        self.limiter = ProcessLimiter(clock)
        self.writer.start()

    def _note_group(self, outcome: GroupOutcome) -> None:
        if outcome.has_arrivals:
            self._arrivals.notify()
        if outcome.last_event is not None:
            self.events.note_emitted(outcome.last_event)

    @asynccontextmanager
    async def inventory(self) -> AsyncIterator[SqliteInventory]:
        """Everything as of now."""
        self._readers.check_open()
        async with self._take_inventory(now_ms=self._clock.now_ms()) as inventory:
            yield inventory

    async def close(self) -> None:
        """Finish, close the file, give up the folder."""
        if self._is_closed:
            return
        self._is_closed = True
        self.limiter.close()
        await self._readers.close()
        self._arrivals.notify()
        self.events.note_closed()
        await self.writer.close()
        self._ownership.release()


async def open_sqlite(
    path: Path,
    *,
    clock: Clock,
    max_attempts: int = MAX_ATTEMPTS,
    synchronous: str = "FULL",
    vfs: str | None = None,
    group_limit: int = GROUP_LIMIT,
    checkpoint_pages: int = CHECKPOINT_PAGES,
) -> SqliteEngine:
    """Take the folder, bring the file to the present schema, end the leases of whoever had it before, and open."""
    with ExitStack() as undo:
        ownership = Ownership(path.parent)
        undo.callback(ownership.release)
        connection = await asyncio.to_thread(_open_file, path, max_attempts, synchronous, vfs)
        undo.callback(close_quietly, connection, path)
        with translated_errors(path):
            readers = Readers(path, vfs=vfs)
            undo.callback(readers.close_connections)
            engine = SqliteEngine(
                path,
                connection,
                readers,
                ownership,
                clock=clock,
                max_attempts=max_attempts,
                vfs=vfs,
                group_limit=group_limit,
                checkpoint_pages=checkpoint_pages,
            )
        undo.pop_all()
        return engine


def _open_file(path: Path, max_attempts: int, synchronous: str, vfs: str | None) -> apsw.Connection:
    with translated_errors(path):
        connection = open_writer(path, vfs=vfs)
        try:
            check_ours(connection, path)
            configure_writer(connection, synchronous=synchronous)
            migrate(connection, path)
            end_all_leases(connection, max_attempts=max_attempts)
        except BaseException:
            close_quietly(connection, path)
            raise
        return connection
