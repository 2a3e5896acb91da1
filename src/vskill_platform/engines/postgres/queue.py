"""The queues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import asyncpg
import msgspec

from vskill_platform.domain.delivery import LAPSED_ERROR
from vskill_platform.domain.errors import VskillError
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.engines.cursors import encode_cursor, number_position
from vskill_platform.engines.postgres.batch import STATUSES, Outcome, Pull, Unit
from vskill_platform.engines.postgres.commit import PostgresCommit
from vskill_platform.engines.postgres.notices import Notices
from vskill_platform.engines.postgres.readers import Readers
from vskill_platform.engines.postgres.texts import from_stored, to_stored
from vskill_platform.engines.postgres.times import Times
from vskill_platform.engines.postgres.writer import JobOutcome, Writer
from vskill_platform.engines.waiting import pull_waiting, wait_until_ready
from vskill_platform.ports.commit import Committed, Lease, Operation, check_operations
from vskill_platform.ports.kv import check_limit
from vskill_platform.ports.queue import (
    MAX_LINE,
    MAX_RECEIVE,
    Exchange,
    Message,
    MessageInfo,
    MessagePage,
    QueueStats,
    WaitingMessage,
)

# What is true of a message now, whether or not a pull has come round to noting it. $1 is the moment that `moment` is
# asked with, $2 the allowed attempts, $3 the error of a lapsed lease.
_LAPSED = "(status = 2 AND at_ms <= (SELECT moment($1)))"
MESSAGES_NOW = f"""
SELECT number, id, queue,
    CASE WHEN {_LAPSED} THEN CASE WHEN attempts >= $2 THEN 3 ELSE 0 END
         WHEN status = 1 AND at_ms <= (SELECT moment($1)) THEN 0 ELSE status END AS status,
    attempts, sent_ms, at_ms, CASE WHEN {_LAPSED} THEN $3 ELSE error END AS error, suspect OR {_LAPSED} AS suspect, body, priority
FROM message
"""
_NEXT_READY = """
SELECT moment($1) AS now_ms,
    EXISTS (SELECT 1 FROM message WHERE queue = $2 AND status = 0) AS is_waiting,
    (SELECT at_ms FROM message WHERE queue = $2 AND status IN (1, 2) ORDER BY at_ms LIMIT 1) AS timed_ms
"""
_EXTEND = "SELECT live FROM extend_leases($1, $2, $3, $4) AS live"
_STATS = f"""
SELECT
    count(*) FILTER (WHERE status = 0), count(*) FILTER (WHERE status = 1), count(*) FILTER (WHERE status = 2),
    count(*) FILTER (WHERE status = 3), (array_agg(sent_ms ORDER BY number) FILTER (WHERE status <> 3))[1]
FROM ({MESSAGES_NOW} WHERE queue = $4) AS messages
"""
# The rows that may have a status now, so that a listing reads no others.
_CANDIDATES = {
    MessageStatus.WAITING: "status <> 3",
    MessageStatus.DELAYED: "status IN (1, 2) AND status = 1",
    MessageStatus.LEASED: "status IN (1, 2) AND status = 2",
    MessageStatus.DEAD: "status IN (2, 3)",
    MessageStatus.GONE: "false",
}
_PEEK = f"""
SELECT * FROM ({MESSAGES_NOW} WHERE queue = $4 AND number > $6 AND {{candidates}}) AS messages
WHERE status = $5 ORDER BY number LIMIT $7
"""
_LINE = "SELECT id, body FROM message WHERE queue = $1 AND status = 0 ORDER BY priority DESC, number LIMIT $2"
_FIND = f"{MESSAGES_NOW} WHERE id = ANY ($4)"
_REQUEUE = "SELECT requeue_messages($1, $3, $4, $2)"
_DROP = "SELECT drop_messages($1, $3, $2)"


class PostgresQueue:
    """Queue over the writer and the readers."""

    def __init__(
        self,
        writer: Writer,
        readers: Readers,
        commits: PostgresCommit,
        times: Times,
        notices: Notices,
        *,
        max_attempts: int,
    ) -> None:
        self._writer = writer
        self._readers = readers
        self._commits = commits
        self._times = times
        self._notices = notices
        self._max_attempts = max_attempts

    async def receive(self, queue: str, *, max_messages: int, lease_s: float, wait_s: float = 0.0) -> list[Message]:
        """Pull messages, waiting for the first."""
        check_limit(max_messages, most=MAX_RECEIVE)

        async def pull() -> list[Message]:
            return (await self._writer.run([], Pull(queue, max_messages, lease_s))).messages

        return await pull_waiting(
            pull, lambda wait_s: self.wait_ready(queue, wait_s=wait_s), self._times.clock, wait_s=wait_s
        )

    async def exchange(
        self, queue: str, commits: Sequence[Sequence[Operation]], *, max_messages: int, lease_s: float
    ) -> Exchange:
        """Commit and pull in one job of the writer."""
        check_limit(max_messages + 1, most=MAX_RECEIVE + 1)
        refused = [_refusal(operations) for operations in commits]
        units = [Unit(operations) for operations, error in zip(commits, refused, strict=True) if error is None]
        done = await self._writer.run(units, Pull(queue, max_messages, lease_s))
        settled = await self._settled(units, done)
        return Exchange([error or settled.pop(0) for error in refused], done.messages)

    async def _settled(self, units: Sequence[Unit], done: JobOutcome) -> list[Committed | VskillError]:
        async def settle(unit: Unit, outcome: Outcome) -> Committed | VskillError:
            return await self._commits.settle_counters(outcome, unit.operations)

        return [await settle(unit, outcome) for unit, outcome in zip(units, done.outcomes, strict=True)]

    async def wait_ready(self, queue: str, *, wait_s: float) -> None:
        """Wait for something to pull."""
        await wait_until_ready(
            self._notices.arrivals, self._times.clock, next_ready_ms=lambda: self._next_ready_ms(queue), wait_s=wait_s
        )

    async def _next_ready_ms(self, queue: str) -> int:
        """When to look again at the latest: when a message is ready, or when a notice could have been missed."""
        row = await self._readers.fetch_one(_NEXT_READY, self._times.asked_ms(), to_stored(queue))
        look_ms = self._notices.next_look_ms()
        if row["is_waiting"]:
            return self._times.clock.now_ms()
        if row["timed_ms"] is None:
            return look_ms
        return min(self._times.local_ms(row["timed_ms"], now_ms=row["now_ms"]), look_ms)

    async def extend(self, leases: Sequence[Lease], *, lease_s: float) -> list[bool]:
        """Prolong live leases."""
        ids = [to_stored(lease.message_id) for lease in leases]
        tokens = [lease.token for lease in leases]
        values = (self._times.asked_ms(), ids, tokens, int(lease_s * 1000))
        live = [row["live"] for row in await self._readers.fetch(_EXTEND, *values)]
        if any(live):
            self._notices.tell_arrivals()  # whoever waits for a lease to end must look again
        return live

    async def stats(self, queue: str) -> QueueStats:
        """Counts by status."""
        return QueueStats(*await self._readers.fetch_one(_STATS, *self._now(), to_stored(queue)))

    async def peek(
        self, queue: str, *, status: MessageStatus, cursor: str | None = None, limit: int = 100
    ) -> MessagePage:
        """One page of messages of a status."""
        self._readers.check_open()
        check_limit(limit)
        listing = f"peek:{queue}:{status}"
        after = number_position(cursor, listing=listing)
        values = (to_stored(queue), STATUSES.index(status), after, limit + 1)
        sql = _PEEK.format(candidates=_CANDIDATES[status])
        rows = await self._readers.fetch(sql, *self._now(), *values)
        page = [_info(row) for row in rows[:limit]]
        if len(rows) <= limit:
            return MessagePage(page, None, complete=True)
        return MessagePage(page, encode_cursor(listing=listing, position=rows[limit - 1]["number"]), complete=False)

    async def line(self, queue: str, *, limit: int = MAX_LINE) -> list[WaitingMessage]:
        """What waits, in the order of delivery."""
        self._readers.check_open()
        check_limit(limit, most=MAX_LINE)
        rows = await self._readers.fetch(_LINE, to_stored(queue), limit)
        return [WaitingMessage(MessageId(from_stored(id)), body) for id, body in rows]

    async def find(self, ids: Sequence[MessageId]) -> dict[MessageId, MessageInfo]:
        """Those of the messages that exist."""
        rows = await self._readers.fetch(_FIND, *self._now(), [to_stored(id) for id in ids])
        return {info.id: info for info in map(_info, rows)}

    async def requeue(self, ids: Sequence[MessageId]) -> list[MessageId]:
        """Deliver dead and delayed messages now."""
        moved = await self._change(_REQUEUE, ids, self._max_attempts, LAPSED_ERROR)
        self._notices.tell_arrivals()
        return moved

    async def drop(self, ids: Sequence[MessageId], *, reason: str) -> list[MessageId]:
        """Remove messages that nobody works on."""
        dropped = await self._change(_DROP, ids, msgspec.json.encode(reason).decode())
        if dropped:
            self._notices.tell_events()
        return dropped

    async def _change(self, sql: str, ids: Sequence[MessageId], *values: object) -> list[MessageId]:
        """Those of the messages, in the order in which they are named, that the statement changed."""
        rows = await self._readers.change(sql, self._times.asked_ms(), [to_stored(id) for id in ids], *values)
        changed = {from_stored(id) for (id,) in rows}
        return [id for id in dict.fromkeys(ids) if id in changed]

    def _now(self) -> tuple[Any, ...]:
        return self._times.asked_ms(), self._max_attempts, LAPSED_ERROR


def _refusal(operations: Sequence[Operation]) -> VskillError | None:
    try:
        check_operations(operations)
    except VskillError as error:
        return error
    return None


def _info(row: asyncpg.Record) -> MessageInfo:
    return MessageInfo(
        id=MessageId(from_stored(row["id"])),
        queue=from_stored(row["queue"]),
        status=STATUSES[row["status"]],
        attempts=row["attempts"],
        sent_ms=row["sent_ms"],
        ready_ms=row["at_ms"],
        error=None if row["error"] is None else from_stored(row["error"]),
        is_suspect=row["suspect"],
        body=row["body"],
    )
