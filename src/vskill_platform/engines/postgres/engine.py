"""The PostgreSQL engine's ports, put together over one database."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from vskill_platform.domain.delivery import MAX_ATTEMPTS
from vskill_platform.domain.errors import EngineRefused, InvalidSettings
from vskill_platform.engines.postgres.catalog import PostgresCatalog
from vskill_platform.engines.postgres.commit import PostgresCommit
from vskill_platform.engines.postgres.connection import SCHEMA, URL_FORM, Access, translated_errors
from vskill_platform.engines.postgres.events import PostgresEvents
from vskill_platform.engines.postgres.inventory import PostgresInventory, take_inventory
from vskill_platform.engines.postgres.kv import PostgresKV
from vskill_platform.engines.postgres.lane import Lane
from vskill_platform.engines.postgres.limiter import PostgresLimiter
from vskill_platform.engines.postgres.notices import Notices
from vskill_platform.engines.postgres.queue import PostgresQueue
from vskill_platform.engines.postgres.readers import Readers
from vskill_platform.engines.postgres.schema import check_server, migrate
from vskill_platform.engines.postgres.times import Times
from vskill_platform.engines.postgres.writer import BATCH_LIMIT, BatchNews, Writer
from vskill_platform.ports.clock import Clock, SystemClock

LANES = 2
"""How many batches of one process may be under way at once."""
_SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,40}")


class PostgresEngine:
    """Every port over one database."""

    def __init__(
        self,
        access: Access,
        readers: Readers,
        times: Times,
        *,
        max_attempts: int,
        lookup_limit_s: float,
        look_every_s: float,
        batch_limit: int,
        lanes: int,
    ) -> None:
        self._is_closed = False
        self._readers = readers
        self._times = times
        self._take_inventory = partial(take_inventory, access, max_attempts=max_attempts)
        self._notices = Notices(access, readers, times.clock, look_every_s=look_every_s)
        made = [Lane(access, times, max_attempts=max_attempts, lookup_limit_s=lookup_limit_s) for _ in range(lanes)]
        self.writer = Writer(made, self._note_batch, batch_limit)
        self.kv = PostgresKV(readers, times)
        self.limiter = PostgresLimiter(readers, times)
        self.writes = PostgresCommit(self.writer, readers, times, self.limiter)
        self.queue = PostgresQueue(self.writer, readers, self.writes, times, self._notices, max_attempts=max_attempts)
        self.catalog = PostgresCatalog(readers)
        self.events = PostgresEvents(readers, times, self._notices)

    def _note_batch(self, news: BatchNews) -> None:
        if news.has_arrivals:
            self._notices.tell_arrivals()
        if news.last_event is not None:
            self._notices.tell_events()

    @asynccontextmanager
    async def inventory(self) -> AsyncIterator[PostgresInventory]:
        """Everything as of now."""
        self._readers.check_open()
        async with self._take_inventory(asked_ms=self._times.asked_ms()) as inventory:
            yield inventory

    async def close(self) -> None:
        """Finish what was handed over, then close every connection."""
        if self._is_closed:
            return
        self._is_closed = True
        await self.writer.close()
        await self._readers.close()
        await self._notices.close()


async def open_postgres(
    url: str,
    *,
    clock: Clock | None = None,
    max_attempts: int = MAX_ATTEMPTS,
    application_name: str = "vskill-platform",
    schema: str = SCHEMA,
    pool_size: int = 10,
    statement_timeout_s: float = 30.0,
    lookup_limit_s: float = 30.0,
    look_every_s: float = 2.0,
    uses_database_time: bool = True,
    batch_limit: int = BATCH_LIMIT,
    lanes: int = LANES,
) -> PostgresEngine:
    """Connect, refuse a server that would not do, bring the schema to the present, and open.

    `pool_size` counts every connection of the process. Waits go by `clock`; all that is kept goes by the database's time,
    unless a test says `uses_database_time=False` and moves the clock itself. After a connection was lost in the middle of
    a commit, its outcome is looked up for `lookup_limit_s`. Whoever waits looks every `look_every_s` without a notice.
    """
    if pool_size < lanes + 2:
        raise InvalidSettings(f"The pool needs {lanes + 2} connections or more; {pool_size} are too few.")
    if not _SCHEMA_NAME.fullmatch(schema):
        raise InvalidSettings(f"'{schema}' cannot name a schema: small letters, digits and underscores only.")
    access = Access(url=url, schema=schema, application_name=application_name, statement_timeout_s=statement_timeout_s)
    await _prepare(access)
    readers = await Readers.open(access, size=pool_size - lanes - 1)
    times = Times(clock or SystemClock(), uses_database_time=uses_database_time)
    return PostgresEngine(
        access,
        readers,
        times,
        max_attempts=max_attempts,
        lookup_limit_s=lookup_limit_s,
        look_every_s=look_every_s,
        batch_limit=batch_limit,
        lanes=lanes,
    )


async def _prepare(access: Access) -> None:
    if not access.url.startswith(("postgresql://", "postgres://")):
        raise EngineRefused(f"The database URL does not begin with postgresql://. {URL_FORM}")
    connection = await access.connect()
    try:
        with translated_errors(access):
            await check_server(connection, access)
            await migrate(connection, access)
        await connection.close(timeout=access.limit_s)
    except BaseException:
        connection.terminate()
        raise
