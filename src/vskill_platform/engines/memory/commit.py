"""Commits of the memory engine: judge every condition first, then write, without a pause in between."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from vskill_platform.domain.delivery import error_text
from vskill_platform.domain.errors import Conflict
from vskill_platform.domain.ids import CommitId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.engines.counters import decode_counter, encode_sum
from vskill_platform.engines.memory.state import MemoryState, Row, StoredMessage
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
from vskill_platform.ports.kv import Entry


class MemoryCommit:
    """Commit over a MemoryState."""

    def __init__(self, state: MemoryState) -> None:
        self._state = state

    async def commit(self, operations: Sequence[Operation], *, id: CommitId | None = None) -> Committed:
        """Apply the operations, all or none."""
        return self.apply(operations, id=id)

    async def find_commit(self, id: CommitId) -> Committed | None:
        """The commit with this id."""
        self._state.check_open()
        known = self._state.commits.get(id)
        return None if known is None else Committed(known[0])

    async def purge(self) -> int:
        """Remove what has expired."""
        self._state.check_open()
        expired = [key for key in self._state.rows if self._state.live_row(key) is None]
        for key in expired:
            self._state.remove_row(key)
        oldest_ms = self._state.clock.now_ms() - COMMITS_KEPT_MS
        old = [id for id, (_, at_ms) in self._state.commits.items() if at_ms < oldest_ms]
        for id in old:
            del self._state.commits[id]
        return len(expired) + len(old)

    def apply(self, operations: Sequence[Operation], *, id: CommitId | None = None) -> Committed:
        """The commit itself; synchronous, so nothing can come between its parts."""
        state = self._state
        state.check_open()
        check_operations(operations)
        if id is not None and id in state.commits:
            return Committed(state.commits[id][0])
        state.settle_timers()
        counters = self._judge(operations)
        state.sequence += 1
        for operation in operations:
            self._write(operation, counters)
        if id is not None:
            state.commits[id] = (state.sequence, state.clock.now_ms())
        self._wake(operations)
        return Committed(state.sequence)

    def _judge(self, operations: Sequence[Operation]) -> dict[str, dict[str, int]]:
        """Raise unless every condition holds; gives the counters that will be added to."""
        counters: dict[str, dict[str, int]] = {}
        sent: set[str] = set()
        settled: set[str] = set()
        last_event = self._state.event_sequence
        for operation in operations:
            match operation:
                case Put() | Delete() | Check():
                    self._judge_version(operation)
                case Add(key=key):
                    counters[key] = self._read_counter(key)
                case Send(id=id) | Restore(row=KeptMessage(id=id)):
                    if id in self._state.messages or id in sent:
                        raise Conflict(f"There is a message '{id}' already.", message_id=id)
                    sent.add(id)
                case Ack(lease=lease) | Retry(lease=lease) | Release(lease=lease) | Bury(lease=lease):
                    self._leased(lease)
                    if lease.message_id in settled:
                        raise lease_lost(lease)
                    settled.add(lease.message_id)
                case Restore(row=Event(sequence=sequence)):
                    if sequence <= last_event:
                        raise Conflict(f"The log has an event {last_event} already; {sequence} cannot follow it.")
                    last_event = sequence
                case CheckLease(lease=lease):
                    self._leased(lease)
                case Requeue() | DropMessage() | Reprioritise():
                    self._judge_by_hand(operation)
                case CheckStatus(message_id=id, status=status):
                    actual = self._status(id)
                    if actual is not status:
                        raise Conflict(f"The message '{id}' is {actual}, not {status}.", message_id=id)
                case CheckIdle(message_id=id):
                    message = self._state.messages.get(id)
                    if message is not None and message.status is MessageStatus.LEASED:
                        raise Conflict(f"The message '{id}' is being worked on.", message_id=id)
                case _:
                    pass
        return counters

    def _judge_version(self, operation: Put | Delete | Check) -> None:
        if operation.if_version is None:
            return
        row = self._state.live_row(operation.key)
        version = 0 if row is None else row.entry.version
        if version != operation.if_version:
            raise Conflict(
                f"'{operation.key}' is at version {version}, not {operation.if_version}.",
                key=operation.key,
                version=version,
            )

    def _judge_by_hand(self, operation: ByHand) -> None:
        status = self._status(operation.message_id)
        if status not in MOVABLE[type(operation)]:
            raise not_movable(operation, status)

    def _status(self, id: str) -> MessageStatus:
        found = self._state.messages.get(id)
        return MessageStatus.GONE if found is None else found.status

    def _read_counter(self, key: str) -> dict[str, int]:
        row = self._state.live_row(key)
        return decode_counter(key, None if row is None else row.entry.value)

    def _leased(self, lease: Lease) -> StoredMessage:
        message = self._state.messages.get(lease.message_id)
        if message is None or message.token != lease.token or message.status is not MessageStatus.LEASED:
            raise lease_lost(lease)
        return message

    def _write(self, operation: Operation, counters: dict[str, dict[str, int]]) -> None:
        state = self._state
        match operation:
            case Put(key=key, value=value, ttl_s=ttl_s, due_ms=due_ms):
                state.put_row(key, Row(Entry(value, state.sequence), self._expiry(ttl_s), due_ms))
            case Delete(key=key):
                state.remove_row(key)
            case Add(key=key, amounts=amounts, ttl_s=ttl_s):
                value = encode_sum(counters[key], amounts)
                state.put_row(key, Row(Entry(value, state.sequence), self._expiry(ttl_s), None))
            case Send():
                self._send(operation)
            case Ack(lease=lease):
                del state.messages[lease.message_id]
            case Retry(lease=lease, error=error, delay_s=delay_s):
                message = self._leased(lease)
                message.error, message.is_suspect = error_text(error), False
                state.end_attempt(message, delay_ms=int(delay_s * 1000))
            case Release(lease=lease, delay_s=delay_s):
                message = self._leased(lease)
                message.attempts -= 1
                state.make_ready(message, delay_ms=int(delay_s * 1000))
            case Bury(lease=lease, error=error):
                message = self._leased(lease)
                message.error, message.status = error_text(error), MessageStatus.DEAD
            case Requeue() | DropMessage() | Reprioritise():
                self._touch(operation)
            case Index(document=document):
                state.documents.setdefault(document.collection.name, {})[document.id] = document
            case Unindex(collection=collection, id=id):
                state.documents.get(collection.name, {}).pop(id, None)
            case Emit(kind=kind, subject=subject, data=data):
                self._emit(kind, subject, data)
            case Restore(row=row):
                self._restore(row)
            case Check() | CheckIdle() | CheckLease() | CheckStatus():
                pass

    def _touch(self, operation: ByHand) -> None:
        state, message = self._state, self._state.messages[operation.message_id]
        match operation:
            case Requeue():
                message.attempts, message.is_suspect = 0, False
                state.make_ready(message)
            case Reprioritise(priority=priority):
                state.move_to(message, priority=priority)
            case DropMessage(message_id=id, reason=reason):
                state.leave_waiting(message)
                del state.messages[id]
                self._emit("message.dropped", id, msgspec.json.encode({"queue": message.queue, "reason": reason}))

    def _emit(self, kind: str, subject: str, data: bytes) -> None:
        state = self._state
        state.event_sequence += 1
        state.events.append(Event(state.event_sequence, state.clock.now_ms(), kind, subject, data))

    def _restore(self, row: KeptRow) -> None:
        state = self._state
        match row:
            case KeptEntry():
                state.put_row(row.key, Row(Entry(row.value, state.sequence), row.expires_ms, row.due_ms))
            case KeptMessage():
                self._restore_message(row)
            case Event():
                state.event_sequence = row.sequence
                state.events.append(row)

    def _restore_message(self, row: KeptMessage) -> None:
        state = self._state
        state.message_number += 1
        message = StoredMessage(
            id=row.id,
            queue=row.queue,
            number=state.message_number,
            body=row.body,
            priority=row.priority,
            sent_ms=row.sent_ms,
            at_ms=row.sent_ms,
            status=row.status,
            attempts=row.attempts,
            is_suspect=row.is_suspect,
            error=row.error,
        )
        state.messages[row.id] = message
        if row.ready_ms is not None:
            state.make_timed(message, MessageStatus.DELAYED, row.ready_ms)
        elif row.status is MessageStatus.WAITING:
            state.make_waiting(message)

    def _send(self, operation: Send) -> None:
        state = self._state
        state.message_number += 1
        now_ms = state.clock.now_ms()
        message = StoredMessage(
            id=operation.id,
            queue=operation.queue,
            number=state.message_number,
            body=operation.body,
            priority=operation.priority,
            sent_ms=now_ms,
            at_ms=now_ms,
        )
        state.messages[operation.id] = message
        state.make_ready(message, delay_ms=int(operation.delay_s * 1000))

    def _expiry(self, ttl_s: float | None) -> int | None:
        return None if ttl_s is None else self._state.clock.now_ms() + int(ttl_s * 1000)

    def _wake(self, operations: Sequence[Operation]) -> None:
        if any(isinstance(operation, Send | Retry | Release | Requeue | Restore) for operation in operations):
            self._state.arrivals.notify()
        if any(isinstance(operation, Emit | DropMessage | Restore) for operation in operations):
            self._state.emissions.notify()
