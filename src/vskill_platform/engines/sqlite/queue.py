"""The queues."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import groupby

import apsw
import msgspec

from vskill_platform.domain.delivery import LAPSED_ERROR
from vskill_platform.domain.errors import VskillError
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.engines.cursors import encode_cursor, number_position
from vskill_platform.engines.sqlite.commit import apply_operations
from vskill_platform.engines.sqlite.connection import fetch_all, fetch_one
from vskill_platform.engines.sqlite.readers import Readers
from vskill_platform.engines.sqlite.timers import STATUSES
from vskill_platform.engines.sqlite.writer import Transaction, Writer
from vskill_platform.engines.waiting import Signal, pull_waiting, wait_until_ready
from vskill_platform.ports.clock import Clock
from vskill_platform.ports.commit import Ack, Committed, Emit, Lease, Operation, check_operations, lease_lost
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

# What is true of a message now, whether or not the writer has come round to noting it.
_LAPSED = "(status = 2 AND at_ms <= :now_ms)"
MESSAGES_NOW = f"""
SELECT number, id, queue,
    CASE WHEN {_LAPSED} THEN iif(attempts >= :max_attempts, 3, 0)
         WHEN status = 1 AND at_ms <= :now_ms THEN 0 ELSE status END AS status,
    attempts, sent_ms, at_ms, iif({_LAPSED}, :lapsed_error, error) AS error, suspect OR {_LAPSED} AS suspect, body, priority
FROM message
"""

_PULL = """
SELECT number, id, body, attempts, suspect, priority FROM message
WHERE queue = ? AND status = 0 ORDER BY priority DESC, number LIMIT ?
"""
_LEASE = """
UPDATE message SET status = 2, at_ms = ?, attempts = attempts + 1, token = ?
WHERE number IN (SELECT value FROM json_each(?))
"""
_ACK_EACH = """
DELETE FROM message WHERE number IN (
    SELECT message.number FROM json_each(?) AS lease CROSS JOIN message
    ON message.id = lease.value ->> 0 AND message.token = lease.value ->> 1 AND message.status = 2
) RETURNING id, token
"""
_EXTEND = "UPDATE message SET at_ms = ? WHERE id = ? AND token = ? AND status = 2"
_HAS_WAITING = "SELECT 1 FROM message WHERE queue = ? AND status = 0 LIMIT 1"
_NEXT_TIMED = "SELECT at_ms FROM message WHERE status IN (1, 2) AND queue = ? ORDER BY at_ms LIMIT 1"
_COUNTS = f"""
SELECT 0, count(*) FROM message WHERE queue = :queue AND status = 0
UNION ALL SELECT 3, count(*) FROM message WHERE queue = :queue AND status = 3
UNION ALL SELECT status, count(*) FROM ({MESSAGES_NOW} WHERE status IN (1, 2) AND queue = :queue) GROUP BY status
"""
# Messages are numbered as they are sent, so the first that is not dead is the oldest.
_OLDEST = f"SELECT sent_ms FROM ({MESSAGES_NOW} WHERE queue = :queue AND status != 3) WHERE status != 3 ORDER BY number LIMIT 1"
_PEEK_WAITING = f"""
SELECT * FROM ({MESSAGES_NOW} WHERE queue = :queue AND number > :after AND status != 3)
WHERE status = :status ORDER BY number LIMIT :limit
"""
_PEEK_TIMED_OR_DEAD = f"""
SELECT * FROM (
    {MESSAGES_NOW} WHERE queue = :queue AND number > :after AND status IN (1, 2)
    UNION ALL {MESSAGES_NOW} WHERE queue = :queue AND number > :after AND status = 3
) WHERE status = :status ORDER BY number LIMIT :limit
"""
_LINE = "SELECT id, body FROM message WHERE queue = ? AND status = 0 ORDER BY priority DESC, number LIMIT ?"
_FIND = f"{MESSAGES_NOW} WHERE id IN (SELECT value FROM json_each(:ids))"
_REQUEUE = """
UPDATE message SET status = 0, at_ms = :now_ms, attempts = 0, suspect = 0
WHERE id IN (SELECT value FROM json_each(:ids)) AND status IN (1, 3) RETURNING id
"""
_DROP = """
DELETE FROM message WHERE id IN (SELECT value FROM json_each(:ids)) AND status != 2 RETURNING id, queue
"""


class SqliteQueue:
    """Queue over the writer and the readers."""

    def __init__(self, writer: Writer, readers: Readers, clock: Clock, arrivals: Signal, *, max_attempts: int) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock
        self._arrivals = arrivals
        self._max_attempts = max_attempts

    async def receive(self, queue: str, *, max_messages: int, lease_s: float, wait_s: float = 0.0) -> list[Message]:
        """Pull messages, waiting for the first."""
        check_limit(max_messages, most=MAX_RECEIVE)
        return await pull_waiting(
            lambda: self._writer.run(partial(_pull, queue=queue, max_messages=max_messages, lease_s=lease_s)),
            lambda wait_s: self.wait_ready(queue, wait_s=wait_s),
            self._clock,
            wait_s=wait_s,
        )

    async def exchange(
        self, queue: str, commits: Sequence[Sequence[Operation]], *, max_messages: int, lease_s: float
    ) -> Exchange:
        """Commit and pull in one job of the writer."""
        check_limit(max_messages + 1, most=MAX_RECEIVE + 1)

        def work(transaction: Transaction) -> Exchange:
            outcomes = _commit_each(transaction, commits)
            return Exchange(outcomes, _pull(transaction, queue=queue, max_messages=max_messages, lease_s=lease_s))

        return await self._writer.run(work)

    async def wait_ready(self, queue: str, *, wait_s: float) -> None:
        """Wait for something to pull."""
        await wait_until_ready(
            self._arrivals, self._clock, next_ready_ms=lambda: self._next_ready_ms(queue), wait_s=wait_s
        )

    async def _next_ready_ms(self, queue: str) -> int | None:
        def read(connection: apsw.Connection) -> int | None:
            if fetch_one(connection, _HAS_WAITING, (queue,)) is not None:
                return self._clock.now_ms()
            timed = fetch_one(connection, _NEXT_TIMED, (queue,))
            return None if timed is None else int(timed[0])

        return self._readers.point(read)

    async def extend(self, leases: Sequence[Lease], *, lease_s: float) -> list[bool]:
        """Prolong live leases."""

        def work(transaction: Transaction) -> list[bool]:
            connection = transaction.connection
            until_ms = transaction.now_ms + int(lease_s * 1000)
            live: list[bool] = []
            for lease in leases:
                connection.execute(_EXTEND, (until_ms, *lease))
                live.append(connection.changes() == 1)
            transaction.has_arrivals |= any(live)  # whoever waits for a lease to end must look again
            return live

        return await self._writer.run(work)

    async def stats(self, queue: str) -> QueueStats:
        """Counts by status."""
        bindings = self._bindings(queue=queue)

        def read(connection: apsw.Connection) -> QueueStats:
            with connection:  # all of one moment
                counts: Counter[MessageStatus] = Counter()
                for status, count in fetch_all(connection, _COUNTS, bindings):
                    counts[STATUSES[status]] += count
                oldest = fetch_one(connection, _OLDEST, bindings)
            waiting, delayed, leased, dead = (counts[status] for status in STATUSES)
            return QueueStats(waiting, delayed, leased, dead, None if oldest is None else oldest[0])

        return await self._readers.bulk(read)

    async def peek(
        self, queue: str, *, status: MessageStatus, cursor: str | None = None, limit: int = 100
    ) -> MessagePage:
        """One page of messages of a status."""
        check_limit(limit)
        listing = f"peek:{queue}:{status}"
        after = number_position(cursor, listing=listing)
        number = STATUSES.index(status) if status in STATUSES else -1
        bindings = self._bindings(queue=queue, status=number, after=after, limit=limit + 1)
        sql = _PEEK_WAITING if status is MessageStatus.WAITING else _PEEK_TIMED_OR_DEAD
        rows = await self._readers.bulk(lambda connection: fetch_all(connection, sql, bindings))
        page = [_info(row) for row in rows[:limit]]
        if len(rows) <= limit:
            return MessagePage(page, None, complete=True)
        return MessagePage(page, encode_cursor(listing=listing, position=rows[limit - 1][0]), complete=False)

    async def line(self, queue: str, *, limit: int = MAX_LINE) -> list[WaitingMessage]:
        """What waits, in the order of delivery."""
        check_limit(limit, most=MAX_LINE)
        rows = await self._readers.bulk(lambda connection: fetch_all(connection, _LINE, (queue, limit)))
        return [WaitingMessage(MessageId(id), body) for id, body in rows]

    async def find(self, ids: Sequence[MessageId]) -> dict[MessageId, MessageInfo]:
        """Those of the messages that exist."""
        bindings = self._bindings(ids=json.dumps(ids))
        rows = await self._readers.bulk(lambda connection: fetch_all(connection, _FIND, bindings))
        return {info.id: info for info in map(_info, rows)}

    async def requeue(self, ids: Sequence[MessageId]) -> list[MessageId]:
        """Deliver dead and delayed messages now."""

        def work(transaction: Transaction) -> list[MessageId]:
            bindings = {"ids": json.dumps(ids), "now_ms": transaction.now_ms}
            moved = {id for (id,) in transaction.connection.execute(_REQUEUE, bindings)}
            transaction.has_arrivals = True
            return [id for id in dict.fromkeys(ids) if id in moved]

        return await self._writer.run(work)

    async def drop(self, ids: Sequence[MessageId], *, reason: str) -> list[MessageId]:
        """Remove messages that nobody works on."""

        def work(transaction: Transaction) -> list[MessageId]:
            dropped = dict(fetch_all(transaction.connection, _DROP, {"ids": json.dumps(ids)}))
            for id, queue in dropped.items():
                data = msgspec.json.encode({"queue": queue, "reason": reason})
                apply_operations(transaction, [Emit("message.dropped", id, data)])
            return [id for id in dict.fromkeys(ids) if id in dropped]

        return await self._writer.run(work)

    def _bindings(self, **more: apsw.SQLiteValue) -> dict[str, apsw.SQLiteValue]:
        now = {"now_ms": self._clock.now_ms(), "max_attempts": self._max_attempts, "lapsed_error": LAPSED_ERROR}
        return {**now, **more}


def _commit_each(transaction: Transaction, commits: Sequence[Sequence[Operation]]) -> list[Committed | VskillError]:
    """Commits, each on its own, in order. What a worker sends most, acks and nothing else, goes in one statement."""
    outcomes: list[Committed | VskillError] = []
    for are_acks, run in groupby(commits, key=_is_ack):
        if are_acks:
            outcomes += _ack_each(transaction, [operation.lease for [operation] in run if isinstance(operation, Ack)])
        else:
            outcomes += [_commit_apart(transaction, operations) for operations in run]
    return outcomes


def _is_ack(operations: Sequence[Operation]) -> bool:
    return len(operations) == 1 and isinstance(operations[0], Ack)


def _ack_each(transaction: Transaction, leases: list[Lease]) -> list[Committed | VskillError]:
    held = {Lease(*row) for row in fetch_all(transaction.connection, _ACK_EACH, (json.dumps(leases),))}
    outcomes: list[Committed | VskillError] = []
    for lease in leases:
        outcomes.append(Committed(transaction.next_sequence()) if lease in held else lease_lost(lease))
        held.discard(lease)
    return outcomes


def _commit_apart(transaction: Transaction, operations: Sequence[Operation]) -> Committed | VskillError:
    """A commit under a savepoint of its own, so that its failure touches nothing else."""
    try:
        check_operations(operations)
        with transaction.savepoint("apart"):
            return apply_operations(transaction, operations)
    except VskillError as error:
        return error


def _pull(transaction: Transaction, *, queue: str, max_messages: int, lease_s: float) -> list[Message]:
    if max_messages == 0:
        return []
    rows = fetch_all(transaction.connection, _PULL, (queue, max_messages))
    # A suspect comes alone: the batch ends before the first one, unless it is the first.
    suspect_at = next((position for position, row in enumerate(rows) if row[4]), len(rows))
    taken = rows[: max(suspect_at, 1)]
    if not taken:
        return []
    until_ms = transaction.now_ms + int(lease_s * 1000)
    token = transaction.next_sequence()
    transaction.connection.execute(_LEASE, (until_ms, token, json.dumps([row[0] for row in taken])))
    return [
        Message(
            id=id,
            body=body,
            attempts=attempts + 1,
            lease=Lease(id, token),
            is_suspect=bool(suspect),
            priority=priority,
        )
        for _, id, body, attempts, suspect, priority in taken
    ]


def _info(row: tuple[apsw.SQLiteValue, ...]) -> MessageInfo:
    _, id, queue, status, attempts, sent_ms, at_ms, error, suspect, body, _ = row
    return msgspec.convert(
        (id, queue, STATUSES[int(str(status))], attempts, sent_ms, at_ms, error, bool(suspect), body), MessageInfo
    )
