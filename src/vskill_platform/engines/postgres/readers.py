"""The connections that read: a pool, from which every call takes one for a single statement."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar, cast

import asyncpg

from vskill_platform.domain.errors import CommitUnknown, EngineClosed
from vskill_platform.engines.postgres.connection import LOST, Access, translated_errors

T = TypeVar("T")
ROWS_AT_A_TIME = 2000


class Readers:
    """Runs statements. A statement that was cancelled by its caller is finished all the same, so that no connection is lost."""

    def __init__(self, access: Access, pool: asyncpg.Pool) -> None:
        self._access = access
        self._pool = pool
        self._under_way: set[asyncio.Task[Any]] = set()
        self._is_closed = False

    @classmethod
    async def open(cls, access: Access, *, size: int) -> Readers:
        """A pool that grows to `size` connections."""
        with translated_errors(access):
            # A connection is never left in a transaction or with a setting changed, so there is nothing to reset.
            pool = await asyncpg.create_pool(**access.options(), min_size=1, max_size=size, reset=_leave_as_it_is)
        return cls(access, pool)

    def check_open(self) -> None:
        """Raise EngineClosed after close."""
        if self._is_closed:
            raise EngineClosed("The engine was closed.")

    async def fetch(self, sql: str, *values: object) -> list[asyncpg.Record]:
        """Every row of a query. One that lost its connection is tried once more, on another."""
        return await self._finish(self._fetch(sql, values))

    async def fetch_one(self, sql: str, *values: object) -> asyncpg.Record:
        """The row of a query that gives exactly one."""
        (row,) = await self.fetch(sql, *values)
        return row

    async def snapshot(self, read: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
        """What several statements say of one and the same moment. A read that lost its connection is tried once more."""
        return await self._finish(self._snapshot(read))

    async def change(self, sql: str, *values: object) -> list[asyncpg.Record]:
        """The rows of a statement that writes, which is not tried again: CommitUnknown if its connection was lost."""
        return await self._finish(self._change(sql, values))

    async def remove_in_parts(self, sql: str, *values: object) -> int:
        """How many rows went in all: the statement takes as its last value how many may go at once."""
        total = 0
        while True:
            removed: int = (await self.change(sql, *values, ROWS_AT_A_TIME))[0][0]
            total += removed
            if removed < ROWS_AT_A_TIME:
                return total

    async def close(self) -> None:
        """Let what is under way end, then close every connection."""
        self._is_closed = True
        if self._under_way:
            await asyncio.wait(self._under_way)
        try:
            async with asyncio.timeout(self._access.limit_s):
                await self._pool.close()
        except LOST:
            self._pool.terminate()

    async def _finish(self, work: Coroutine[Any, Any, T]) -> T:
        if self._is_closed:
            work.close()
            self.check_open()
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._note_done)
        return await asyncio.shield(task)

    def _note_done(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # a caller that was cancelled does not come for it

    async def _fetch(self, sql: str, values: tuple[object, ...]) -> list[asyncpg.Record]:
        with translated_errors(self._access):
            try:
                return await self._fetch_once(sql, values)
            except TimeoutError:
                raise
            except LOST:
                return await self._fetch_once(sql, values)

    async def _snapshot(self, read: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
        with translated_errors(self._access):
            try:
                return await self._snapshot_once(read)
            except TimeoutError:
                raise
            except LOST:
                return await self._snapshot_once(read)

    async def _snapshot_once(self, read: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
        async with self._pool.acquire() as connection:
            try:
                async with connection.transaction(isolation="repeatable_read", readonly=True):
                    return await read(cast("asyncpg.Connection", connection))
            except LOST:
                connection.terminate()
                raise

    async def _change(self, sql: str, values: tuple[object, ...]) -> list[asyncpg.Record]:
        with translated_errors(self._access):
            async with self._pool.acquire() as connection:
                try:
                    return await connection.fetch(sql, *values)
                except LOST as exc:
                    connection.terminate()
                    raise CommitUnknown(
                        f"The connection to {self._access.place} was lost in the middle of a write. "
                        "Read what became of it before trying again."
                    ) from exc

    async def _fetch_once(self, sql: str, values: tuple[object, ...]) -> list[asyncpg.Record]:
        async with self._pool.acquire() as connection:
            try:
                return await connection.fetch(sql, *values)
            except LOST:
                connection.terminate()
                raise


async def _leave_as_it_is(connection: object) -> None:
    """In place of the driver's reset, which is a round trip."""
