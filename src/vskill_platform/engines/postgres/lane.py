"""A lane: one connection that carries out batches, one after the other, and always knows what became of each.

A batch is one call of a function on the server, which is one transaction and one round trip. When the connection is lost on
the way, nobody knows whether the batch was committed, and its transaction may still be running. So the lane's row on the
server holds the number of its latest batch: looking a batch up writes its number there unless it is there already, and
whichever of the two comes second finds that it is late.
"""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import asyncpg
import msgspec
import structlog

from vskill_platform.domain.delivery import LAPSED_ERROR
from vskill_platform.domain.errors import CommitUnknown, StoreUnavailable, VskillError
from vskill_platform.engines.postgres.batch import Answer, Batch, message_of, read_answer, read_outcomes
from vskill_platform.engines.postgres.connection import LOST, Access, translate, translated_errors
from vskill_platform.engines.postgres.times import Times
from vskill_platform.ports.queue import Message

_APPLY = "SELECT * FROM apply_batch($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)"
_OPEN = "INSERT INTO lane (id, batch, at_ms) VALUES ($1, 0, moment($2))"
_RECOVER = "SELECT * FROM recover_batch($1, $2)"
_PULLED = """
SELECT token, id, body, attempts, suspect, priority FROM message
WHERE token = ANY ($1) AND status = 2 ORDER BY priority DESC, number
"""
_SETTINGS = {"enable_seqscan": "off", "enable_bitmapscan": "off", "enable_sort": "off"}
"""The statements of a batch find rows by index, however small or new the tables are when they are planned."""

_MOST_TRIES = 5
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 1.0
_log = structlog.get_logger(__name__)


class _LaneMovedOn(Exception):
    """The lane's row is not where this lane left it: the batch was not carried out."""


class Lane:
    """One connection for batches. It is made when it is first needed, and again after it was lost."""

    def __init__(self, access: Access, times: Times, *, max_attempts: int, lookup_limit_s: float) -> None:
        self._access = access
        self._times = times
        self._max_attempts = max_attempts
        self._lookup_limit_s = lookup_limit_s
        self._connection: asyncpg.Connection | None = None
        self._id = uuid4()
        self._number = 0

    async def carry_out(self, batch: Batch) -> Answer:
        """Commit a batch. Raises StoreUnavailable if nothing of it was written, CommitUnknown if that cannot be learnt.

        What failed for good but might go through next time (a deadlock, a lost connection) is tried again.
        """
        for _ in range(_MOST_TRIES - 1):
            try:
                return await self._try(batch)
            except (asyncpg.DeadlockDetectedError, asyncpg.SerializationError, _LaneMovedOn, _NotCommitted):
                continue
            except asyncpg.OutOfMemoryError:
                batch.takes_all = True
            except asyncpg.PostgresError as exc:
                raise translate(exc, self._access) from exc
        try:
            return await self._try(batch)
        except _NotCommitted as exc:
            raise StoreUnavailable(f"{self._access.place} lost the connection again and again.") from exc
        except asyncpg.PostgresError as exc:
            raise translate(exc, self._access) from exc

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is None:
            return
        try:
            await self._connection.close(timeout=self._access.limit_s)
        except LOST:
            self._connection.terminate()

    async def _try(self, batch: Batch) -> Answer:
        connection = await self._connected()
        arguments = batch.arguments()
        try:
            row = await connection.fetchrow(
                _APPLY,
                self._id,
                self._number + 1,
                self._times.asked_ms(),
                self._max_attempts,
                *arguments,
                LAPSED_ERROR,
            )
        except LOST as exc:
            connection.terminate()
            self._connection = None
            return await self._recover(batch, exc)
        except asyncpg.PostgresError as exc:
            if exc.sqlstate == "VS001":
                self._connection = None
                connection.terminate()
                raise _LaneMovedOn from exc
            raise
        self._number += 1
        return read_answer(batch, row)

    async def _connected(self) -> asyncpg.Connection:
        """The connection, with a row on the server for this lane. Raises StoreUnavailable: then nothing was written."""
        if self._connection is None or self._connection.is_closed():
            connection = await self._access.connect(_SETTINGS)
            lane_id = uuid4()
            try:
                with translated_errors(self._access):
                    await connection.execute(_OPEN, lane_id, self._times.asked_ms())
            except BaseException:
                connection.terminate()
                raise
            self._connection, self._id, self._number = connection, lane_id, 0
        return self._connection

    async def _recover(self, batch: Batch, error: BaseException) -> Answer:
        """What became of the batch after its connection was lost. Raises _NotCommitted if it never will be."""
        _log.warning("connection_lost_in_a_commit", place=self._access.place, error=repr(error))
        try:
            async with asyncio.timeout(self._lookup_limit_s):
                return await self._look_up(batch)
        except TimeoutError as exc:
            raise CommitUnknown(
                f"The connection to {self._access.place} was lost in the middle of a commit, and within "
                f"{self._lookup_limit_s:g} s it could not be learnt what became of it. Read before trying again."
            ) from exc

    async def _look_up(self, batch: Batch) -> Answer:
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                return await self._look_up_once(batch)
            except (VskillError, *LOST, asyncpg.PostgresError):
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)

    async def _look_up_once(self, batch: Batch) -> Answer:
        connection = await self._access.connect()
        try:
            row = await connection.fetchrow(_RECOVER, self._id, self._number + 1)
            if row is None or not row["committed"]:
                raise _NotCommitted
            outcome = msgspec.json.decode(row["outcome"])
            pulled = await self._read_pulled(connection, batch, outcome["tokens"])
        finally:
            connection.terminate()
        return Answer(read_outcomes(batch, outcome), pulled, outcome["last_event"])

    async def _read_pulled(
        self, connection: asyncpg.Connection, batch: Batch, tokens: list[int | None]
    ) -> list[list[Message]]:
        pulled: list[list[Message]] = [[] for _ in batch.pulls]
        given = [token for token in tokens if token is not None]
        rows: list[Any] = await connection.fetch(_PULLED, given) if given else []
        for token, *rest in rows:
            pulled[tokens.index(token)].append(message_of(rest, token))
        return pulled


class _NotCommitted(Exception):
    """The batch was not committed and never will be."""
