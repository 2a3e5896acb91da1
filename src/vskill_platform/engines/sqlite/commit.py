"""Commits: the conditions of all operations first, then the writes, in the writer's transaction."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import msgspec

from vskill_platform.domain.delivery import error_text
from vskill_platform.domain.errors import Conflict, VskillError
from vskill_platform.domain.ids import CommitId, MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.engines.counters import decode_counter, encode_sum
from vskill_platform.engines.sqlite.connection import fetch_all, fetch_one
from vskill_platform.engines.sqlite.documents import index_document, unindex_document
from vskill_platform.engines.sqlite.readers import Readers
from vskill_platform.engines.sqlite.timers import DELAYED, STATUSES, WAITING
from vskill_platform.engines.sqlite.writer import ROWS_AT_A_TIME, Transaction, Writer
from vskill_platform.ports.commit import (
    COMMITS_KEPT_MS,
    MOVABLE,
    Ack,
    Add,
    Bury,
    ByHand,
    Check,
    CheckIdle,
    CheckLease,
    CheckStatus,
    Committed,
    Delete,
    DropMessage,
    Emit,
    Index,
    Lease,
    Operation,
    Put,
    Release,
    Reprioritise,
    Requeue,
    Restore,
    Retry,
    Send,
    Unindex,
    check_operations,
    lease_lost,
    not_movable,
)
from vskill_platform.ports.events import Event
from vskill_platform.ports.inventory import KeptEntry, KeptMessage, KeptRow

_VERSION = "SELECT version FROM kv WHERE key = ? AND (expires_ms IS NULL OR expires_ms > ?)"
_VALUE = "SELECT value FROM kv WHERE key = ? AND (expires_ms IS NULL OR expires_ms > ?)"
_PUT = """
INSERT INTO kv (key, version, expires_ms, due_ms, value) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET
    version = excluded.version, expires_ms = excluded.expires_ms, due_ms = excluded.due_ms, value = excluded.value
"""
_DELETE = "DELETE FROM kv WHERE key = ?"
_LEASE_HELD = "SELECT 1 FROM message WHERE id = ? AND token = ? AND status = 2"
_IS_LEASED = "SELECT 1 FROM message WHERE id = ? AND status = 2"
_SEND = """
INSERT INTO message (id, queue, status, at_ms, priority, sent_ms, body) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO NOTHING
"""
_RESTORE_MESSAGE = """
INSERT INTO message (id, queue, status, at_ms, priority, attempts, suspect, sent_ms, error, body)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
"""
_ACK = "DELETE FROM message WHERE id = ?"
_RETRY = """
UPDATE message SET status = iif(attempts >= :max_attempts, 3, :status), at_ms = :at_ms, suspect = 0, error = :error
WHERE id = :id
"""
_RELEASE = "UPDATE message SET status = :status, at_ms = :at_ms, attempts = attempts - 1 WHERE id = :id"
_BURY = "UPDATE message SET status = 3, error = ? WHERE id = ?"
_STATUS = "SELECT status FROM message WHERE id = ?"
_REQUEUE = "UPDATE message SET status = 0, at_ms = ?, attempts = 0, suspect = 0 WHERE id = ?"
_DROP = "DELETE FROM message WHERE id = ? RETURNING queue"
_REPRIORITISE = "UPDATE message SET priority = ? WHERE id = ?"
_EMIT = "INSERT INTO event (at_ms, kind, subject, data) VALUES (?, ?, ?, ?)"
_RESTORE_EVENT = """
INSERT INTO event (sequence, at_ms, kind, subject, data) SELECT ?1, ?2, ?3, ?4, ?5
WHERE NOT EXISTS (SELECT 1 FROM event WHERE sequence >= ?1)
"""
_FIND_COMMIT = "SELECT version FROM commits WHERE id = ?"
_PURGE_VALUES = "DELETE FROM kv WHERE number IN (SELECT number FROM kv WHERE expires_ms <= ? LIMIT ?)"
_PURGE_COMMITS = "DELETE FROM commits WHERE rowid IN (SELECT rowid FROM commits WHERE at_ms < ? LIMIT ?)"
_RECORD_COMMIT = "INSERT INTO commits (id, version, at_ms) VALUES (?, ?, ?)"


class SqliteCommit:
    """Commit over the writer."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    @property
    def trouble(self) -> VskillError | None:
        """What the last group failed with."""
        return self._writer.trouble

    async def commit(self, operations: Sequence[Operation], *, id: CommitId | None = None) -> Committed:
        """Apply the operations, all or none."""
        check_operations(operations)
        return await self._writer.run(lambda transaction: apply_operations(transaction, operations, id=id))

    async def find_commit(self, id: CommitId) -> Committed | None:
        """The commit with this id."""
        row = self._readers.point(lambda connection: fetch_one(connection, _FIND_COMMIT, (id,)))
        return None if row is None else Committed(*row)

    async def purge(self) -> int:
        """Remove what has expired."""
        return await self._writer.run_in_parts(_purge_values) + await self._writer.run_in_parts(_purge_commits)


def apply_operations(
    transaction: Transaction, operations: Sequence[Operation], *, id: CommitId | None = None
) -> Committed:
    """One commit, under a savepoint that undoes it if it raises."""
    connection = transaction.connection
    if id is not None:
        known = fetch_one(connection, _FIND_COMMIT, (id,))
        if known is not None:
            return Committed(*known)
    counters = _judge(transaction, operations)
    version = transaction.next_sequence()
    for operation in operations:
        _write(transaction, operation, version=version, counters=counters)
    if id is not None:
        connection.execute(_RECORD_COMMIT, (id, version, transaction.now_ms))
    return Committed(version)


def _judge(transaction: Transaction, operations: Sequence[Operation]) -> dict[str, dict[str, int]]:
    """Raise unless every condition holds; gives the counters that will be added to."""
    connection = transaction.connection
    counters: dict[str, dict[str, int]] = {}
    settled: set[str] = set()
    for operation in operations:
        match operation:
            case Put(if_version=None) | Delete(if_version=None):
                pass
            case Put() | Delete() | Check():
                _judge_version(transaction, operation)
            case Add(key=key):
                counters[key] = _read_counter(transaction, key)
            case Ack(lease=lease) | Retry(lease=lease) | Release(lease=lease) | Bury(lease=lease):
                _judge_lease(connection, lease, settled)
            case Send(id=id) | Restore(row=KeptMessage(id=id)) if id in settled:
                raise Conflict(f"There is a message '{id}' already.", message_id=id)
            case CheckLease(lease=lease):
                if fetch_one(connection, _LEASE_HELD, lease) is None:
                    raise lease_lost(lease)
            case Requeue() | DropMessage() | Reprioritise():
                _judge_by_hand(connection, operation)
                settled.add(operation.message_id)
            case CheckStatus(message_id=id, status=status):
                _judge_status(connection, id, status)
            case CheckIdle(message_id=id):
                if fetch_one(connection, _IS_LEASED, (id,)) is not None:
                    raise Conflict(f"The message '{id}' is being worked on.", message_id=id)
            case _:
                pass
    return counters


def _judge_version(transaction: Transaction, operation: Put | Delete | Check) -> None:
    row = fetch_one(transaction.connection, _VERSION, (operation.key, transaction.now_ms))
    version = 0 if row is None else row[0]
    if version != operation.if_version:
        raise Conflict(
            f"'{operation.key}' is at version {version}, not {operation.if_version}.",
            key=operation.key,
            version=version,
        )


def _judge_lease(connection: apsw.Connection, lease: Lease, settled: set[str]) -> None:
    held = fetch_one(connection, _LEASE_HELD, lease) is not None
    if not held or lease.message_id in settled:
        raise lease_lost(lease)
    settled.add(lease.message_id)


def _judge_status(connection: apsw.Connection, id: MessageId, status: MessageStatus) -> None:
    actual = _status(connection, id)
    if actual is not status:
        raise Conflict(f"The message '{id}' is {actual}, not {status}.", message_id=id)


def _judge_by_hand(connection: apsw.Connection, operation: ByHand) -> None:
    status = _status(connection, operation.message_id)
    if status not in MOVABLE[type(operation)]:
        raise not_movable(operation, status)


def _status(connection: apsw.Connection, id: MessageId) -> MessageStatus:
    row = fetch_one(connection, _STATUS, (id,))
    return MessageStatus.GONE if row is None else STATUSES[row[0]]


def _read_counter(transaction: Transaction, key: str) -> dict[str, int]:
    row = fetch_one(transaction.connection, _VALUE, (key, transaction.now_ms))
    return decode_counter(key, None if row is None else row[0])


def _write(
    transaction: Transaction, operation: Operation, *, version: int, counters: dict[str, dict[str, int]]
) -> None:
    connection = transaction.connection
    match operation:
        case Put(key=key, value=value, ttl_s=ttl_s, due_ms=due_ms):
            connection.execute(_PUT, (key, version, _moment(transaction, ttl_s), due_ms, value))
        case Delete(key=key):
            connection.execute(_DELETE, (key,))
        case Add(key=key, amounts=amounts, ttl_s=ttl_s):
            value = encode_sum(counters[key], amounts)
            connection.execute(_PUT, (key, version, _moment(transaction, ttl_s), None, value))
        case Send():
            _send(transaction, operation)
        case Ack(lease=lease):
            connection.execute(_ACK, (lease.message_id,))
        case Retry() | Release():
            _return_message(transaction, operation)
        case Bury(lease=lease, error=error):
            connection.execute(_BURY, (error_text(error), lease.message_id))
        case Requeue() | DropMessage() | Reprioritise():
            _touch(transaction, operation)
        case Index(document=document):
            index_document(connection, document)
        case Unindex(collection=collection, id=id):
            unindex_document(connection, collection, id)
        case Emit(kind=kind, subject=subject, data=data):
            _emit(transaction, kind, subject, data)
        case Restore(row=row):
            _restore(transaction, row, version=version)
        case Check() | CheckIdle() | CheckLease() | CheckStatus():
            pass


def _touch(transaction: Transaction, operation: ByHand) -> None:
    connection = transaction.connection
    match operation:
        case Requeue(message_id=id):
            connection.execute(_REQUEUE, (transaction.now_ms, id))
            transaction.has_arrivals = True
        case Reprioritise(message_id=id, priority=priority):
            connection.execute(_REPRIORITISE, (priority, id))
        case DropMessage(message_id=id, reason=reason):
            [(queue,)] = fetch_all(connection, _DROP, (id,))
            _emit(transaction, "message.dropped", id, msgspec.json.encode({"queue": queue, "reason": reason}))


def _emit(transaction: Transaction, kind: str, subject: str, data: bytes) -> None:
    transaction.connection.execute(_EMIT, (transaction.now_ms, kind, subject, data))
    transaction.last_event = transaction.connection.last_insert_rowid()


def _restore(transaction: Transaction, row: KeptRow, *, version: int) -> None:
    connection = transaction.connection
    match row:
        case KeptEntry():
            connection.execute(_PUT, (row.key, version, row.expires_ms, row.due_ms, row.value))
        case KeptMessage():
            _restore_message(transaction, row)
        case Event():
            connection.execute(_RESTORE_EVENT, row)
            if connection.changes() == 0:
                raise Conflict(f"The log has events that event {row.sequence} cannot follow.")
            transaction.last_event = row.sequence


def _restore_message(transaction: Transaction, row: KeptMessage) -> None:
    status, at_ms = STATUSES.index(row.status), row.sent_ms if row.ready_ms is None else row.ready_ms
    values = (row.id, row.queue, status, at_ms, row.priority, row.attempts, row.is_suspect, row.sent_ms, row.error)
    transaction.connection.execute(_RESTORE_MESSAGE, (*values, row.body))
    _require_new(transaction.connection, row.id)
    transaction.has_arrivals = True


def _require_new(connection: apsw.Connection, id: MessageId) -> None:
    """Raise Conflict unless the insert that was just made had any effect."""
    if connection.changes() == 0:
        raise Conflict(f"There is a message '{id}' already.", message_id=id)


def _send(transaction: Transaction, message: Send) -> None:
    now_ms = transaction.now_ms
    status, at_ms = _readiness(transaction, message.delay_s)
    row = (message.id, message.queue, status, at_ms, message.priority, now_ms, message.body)
    transaction.connection.execute(_SEND, row)
    _require_new(transaction.connection, message.id)
    transaction.has_arrivals = True


def _return_message(transaction: Transaction, operation: Retry | Release) -> None:
    status, at_ms = _readiness(transaction, operation.delay_s)
    bindings: dict[str, apsw.SQLiteValue] = {"id": operation.lease.message_id, "status": status, "at_ms": at_ms}
    if isinstance(operation, Release):
        transaction.connection.execute(_RELEASE, bindings)
    else:
        bindings |= {"max_attempts": transaction.max_attempts, "error": error_text(operation.error)}
        transaction.connection.execute(_RETRY, bindings)
    transaction.has_arrivals = True


def _readiness(transaction: Transaction, delay_s: float) -> tuple[int, int]:
    if delay_s <= 0:
        return WAITING, transaction.now_ms
    return DELAYED, transaction.now_ms + int(delay_s * 1000)


def _moment(transaction: Transaction, ttl_s: float | None) -> int | None:
    return None if ttl_s is None else transaction.now_ms + int(ttl_s * 1000)


def _purge_values(transaction: Transaction) -> int:
    transaction.connection.execute(_PURGE_VALUES, (transaction.now_ms, ROWS_AT_A_TIME))
    return transaction.connection.changes()


def _purge_commits(transaction: Transaction) -> int:
    transaction.connection.execute(_PURGE_COMMITS, (transaction.now_ms - COMMITS_KEPT_MS, ROWS_AT_A_TIME))
    return transaction.connection.changes()
