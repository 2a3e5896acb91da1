"""A batch: commits and pulls of many callers as the arrays that `apply_batch` takes, and its answer taken apart again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import msgspec

from vskill_platform.domain.catalog import MIN_NUMBER, Document
from vskill_platform.domain.delivery import error_text
from vskill_platform.domain.errors import Conflict, VskillError
from vskill_platform.domain.ids import CommitId, MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.relevance import can_be_misspelt
from vskill_platform.engines.facets import encode_facet
from vskill_platform.engines.postgres.texts import from_stored, to_stored
from vskill_platform.ports.commit import (
    Ack,
    Add,
    Bury,
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
    lease_lost,
    not_movable,
)
from vskill_platform.ports.events import Event
from vskill_platform.ports.inventory import KeptEntry, KeptMessage, KeptRow
from vskill_platform.ports.queue import Message

STATUSES = (MessageStatus.WAITING, MessageStatus.DELAYED, MessageStatus.LEASED, MessageStatus.DEAD, MessageStatus.GONE)
"""A message's status by its number in the tables; the last is that of one which is not there."""

MOST_LOCKS = 128
"""A batch with more takes all keys at once: the server has room for some 64 locks a connection."""

_MAX_TERMS_BYTES = 1_000_000
_FAULT = 15
LEASE_FAULT, EXISTS_FAULT, COUNTER_FAULT, LATER_FAULT = 2, 3, 6, 7


@dataclass(frozen=True, slots=True)
class Unit:
    """One caller's commit."""

    operations: Sequence[Operation]
    id: CommitId | None = None


@dataclass(frozen=True, slots=True)
class Pull:
    """One caller's wish for messages."""

    queue: str
    max_messages: int
    lease_s: float


class NotPlainCounter(Exception):
    """A commit adds to a value that the database does not add to by itself."""


Outcome = Committed | VskillError | NotPlainCounter


@dataclass(slots=True)
class Batch:
    """Commits in the order in which they are carried out, and pulls, which come after them."""

    units: list[Unit] = field(default_factory=list)
    pulls: list[Pull] = field(default_factory=list)
    takes_all: bool = False
    _locks: set[int] = field(default_factory=set)
    _message_ids: set[str] = field(default_factory=set)
    _rows: list[tuple[Any, ...]] = field(default_factory=list)
    _last_restored: int = MIN_NUMBER

    def add(self, unit: Unit) -> None:
        """Take a commit in."""
        self.units.append(unit)
        if unit.id is not None:
            self._lock("commit", unit.id)
        settled: set[str] = set()
        sent: set[str] = set()
        self._last_restored = MIN_NUMBER
        for operation in unit.operations:
            self._rows.append(self._row(operation, settled, sent))

    def arguments(self) -> tuple[Any, ...]:
        """What `apply_batch` takes, from `takes_all` to `pull_leases`."""
        takes_all = self.takes_all or len(self._locks) > MOST_LOCKS
        columns: Sequence[Sequence[Any]] = list(zip(*self._rows, strict=True)) or [()] * 7
        return (
            takes_all,
            [] if takes_all else sorted(self._locks),
            sorted(self._message_ids),
            [None if unit.id is None else to_stored(unit.id) for unit in self.units],
            [len(unit.operations) for unit in self.units],
            *columns,
            [to_stored(pull.queue) for pull in self.pulls],
            [pull.max_messages for pull in self.pulls],
            [int(pull.lease_s * 1000) for pull in self.pulls],
        )

    def _lock(self, kind: str, name: str) -> None:
        digest = blake2b(f"{kind}:{name}".encode(), digest_size=8).digest()
        self._locks.add(int.from_bytes(digest, signed=True))

    def _row(self, operation: Operation, settled: set[str], sent: set[str]) -> tuple[Any, ...]:
        """kind, name, number, time, due, text, content."""
        match operation:
            case Put(key=key, value=value, if_version=version, ttl_s=ttl_s, due_ms=due_ms):
                self._lock("key", key)
                return (0, key, version, _ms(ttl_s), due_ms, None, value)
            case Delete(key=key, if_version=version):
                self._lock("key", key)
                return (1, key, version, None, None, None, None)
            case Check(key=key, if_version=version):
                self._lock("key", key)
                return (2, key, version, None, None, None, None)
            case Add(key=key, amounts=amounts, ttl_s=ttl_s):
                self._lock("key", key)
                if any("\0" in name for name in amounts):
                    return _fault(COUNTER_FAULT)
                return (3, key, None, _ms(ttl_s), None, msgspec.json.encode(dict(amounts)).decode(), None)
            case Send():
                return self._send(operation, sent)
            case Ack(lease=lease):
                return self._settle(5, lease, settled)
            case Retry(lease=lease, error=error, delay_s=delay_s):
                return self._settle(6, lease, settled, delay_s=delay_s, error=error)
            case Release(lease=lease, delay_s=delay_s):
                return self._settle(7, lease, settled, delay_s=delay_s)
            case Bury(lease=lease, error=error):
                return self._settle(8, lease, settled, error=error)
            case CheckIdle(message_id=id):
                return (9, self._message(id), None, None, None, None, None)
            case CheckLease(lease=lease):
                return (10, self._message(lease.message_id), lease.token, None, None, None, None)
            case CheckStatus(message_id=id, status=status):
                return (11, self._message(id), STATUSES.index(status), None, None, None, None)
            case Index(document=document):
                self._lock(f"document {document.collection.name}", document.id)
                return (12, to_stored(document.id), None, None, None, _fields(document), document.row)
            case Unindex(collection=collection, id=id):
                self._lock(f"document {collection.name}", id)
                return (13, to_stored(id), None, None, None, collection.name, None)
            case Emit(kind=kind, subject=subject, data=data):
                return (14, to_stored(subject), None, None, None, to_stored(kind), data)
            case Requeue(message_id=id):
                return (19, self._message(id), None, None, None, None, None)
            case DropMessage(message_id=id, reason=reason):
                return (20, self._message(id), None, None, None, msgspec.json.encode(reason).decode(), None)
            case Reprioritise(message_id=id, priority=priority):
                return (21, self._message(id), priority, None, None, None, None)
            case Restore(row=row):
                return self._restore(row, sent)

    def _restore(self, row: KeptRow, sent: set[str]) -> tuple[Any, ...]:
        match row:
            case KeptEntry():
                self._lock("key", row.key)
                return (16, row.key, None, row.expires_ms, row.due_ms, None, row.value)
            case KeptMessage():
                return self._restore_message(row, sent)
            case Event():
                return self._restore_event(row)

    def _message(self, id: str) -> str:
        """A message that is judged: its row is locked if it exists, its id in any case."""
        self._lock("message", id)
        stored = to_stored(id)
        self._message_ids.add(stored)
        return stored

    def _send(self, message: Send, sent: set[str]) -> tuple[Any, ...]:
        self._lock("message", message.id)
        if message.id in sent:
            return _fault(EXISTS_FAULT)
        sent.add(message.id)
        queue = to_stored(message.queue)
        return (4, to_stored(message.id), message.priority, _ms(message.delay_s), None, queue, message.body)

    def _restore_message(self, row: KeptMessage, sent: set[str]) -> tuple[Any, ...]:
        self._lock("message", row.id)
        if row.id in sent:
            return _fault(EXISTS_FAULT)
        sent.add(row.id)
        fields = {
            "queue": to_stored(row.queue),
            "status": STATUSES.index(row.status),
            "at_ms": row.sent_ms if row.ready_ms is None else row.ready_ms,
            "priority": row.priority,
            "attempts": row.attempts,
            "suspect": row.is_suspect,
            "sent_ms": row.sent_ms,
            "error": None if row.error is None else to_stored(row.error),
        }
        return (17, to_stored(row.id), None, None, None, msgspec.json.encode(fields).decode(), row.body)

    def _restore_event(self, row: Event) -> tuple[Any, ...]:
        """An event; one that does not follow the others of its commit is a fault, which the table cannot show yet."""
        if row.sequence <= self._last_restored:
            return _fault(LATER_FAULT)
        self._last_restored = row.sequence
        return (18, to_stored(row.subject), row.sequence, row.at_ms, None, to_stored(row.kind), row.data)

    def _settle(
        self, kind: int, lease: Lease, settled: set[str], *, delay_s: float = 0.0, error: str | None = None
    ) -> tuple[Any, ...]:
        if lease.message_id in settled:
            return _fault(LEASE_FAULT)
        settled.add(lease.message_id)
        stored = to_stored(lease.message_id)
        self._message_ids.add(stored)
        text = None if error is None else to_stored(error_text(error))
        return (kind, stored, lease.token, _ms(delay_s), None, text, None)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a batch did: the outcome of each commit, the messages of each pull, and the last event, if there was any."""

    outcomes: list[Outcome]
    pulled: list[list[Message]]
    last_event: int | None


def read_answer(batch: Batch, row: Any) -> Answer:
    """The answer in the row that `apply_batch` gave."""
    return Answer(read_outcomes(batch, row), _read_pulled(batch, row), row["last_event"])


def read_outcomes(batch: Batch, row: Any) -> list[Outcome]:
    """The outcomes of the commits, from the function's row or from what a lane kept of it."""
    columns = (row["versions"], row["faults"], row["fault_places"], row["fault_details"])
    return [
        Committed(version) if fault == 0 else _error(fault, unit.operations[place - 1], detail)
        for unit, version, fault, place, detail in zip(batch.units, *columns, strict=True)
    ]


def message_of(columns: Sequence[Any], token: int) -> Message:
    """A delivery, from the columns id, body, attempts, suspect and priority."""
    id, body, attempts, is_suspect, priority = columns
    identity = MessageId(from_stored(id))
    return Message(
        id=identity,
        body=body,
        attempts=attempts,
        lease=Lease(identity, token),
        is_suspect=is_suspect,
        priority=priority,
    )


def _read_pulled(batch: Batch, row: Any) -> list[list[Message]]:
    pulled: list[list[Message]] = [[] for _ in batch.pulls]
    tokens = row["tokens"]
    columns = ("pulled_by", "pulled_ids", "pulled_bodies", "pulled_attempts", "pulled_suspects", "pulled_priorities")
    for by, *rest in zip(*(row[column] for column in columns), strict=True):
        pulled[by - 1].append(message_of(rest, tokens[by - 1]))
    return pulled


def _error(fault: int, operation: Operation, detail: int) -> VskillError | NotPlainCounter:
    match fault, operation:
        case 1, Put(key=key) | Delete(key=key) | Check(key=key):
            return Conflict(f"'{key}' is at version {detail}, not {operation.if_version}.", key=key, version=detail)
        case 2, Ack(lease=lease) | Retry(lease=lease) | Release(lease=lease) | Bury(lease=lease) | CheckLease(
            lease=lease
        ):
            return lease_lost(lease)
        case 3, Send(id=id) | Restore(row=KeptMessage(id=id)):
            return Conflict(f"There is a message '{id}' already.", message_id=id)
        case 4, CheckIdle(message_id=id):
            return Conflict(f"The message '{id}' is being worked on.", message_id=id)
        case 5, CheckStatus(message_id=id, status=status):
            return Conflict(f"The message '{id}' is {STATUSES[detail]}, not {status}.", message_id=id)
        case 5, Requeue() | DropMessage() | Reprioritise():
            return not_movable(operation, STATUSES[detail])
        case 7, Restore(row=Event(sequence=sequence)):
            return Conflict(f"The log has events that event {sequence} cannot follow.")
        case _:
            return NotPlainCounter()


def _fault(number: int) -> tuple[Any, ...]:
    return (_FAULT, None, number, None, None, None, None)


def _ms(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds * 1000)


def _fields(document: Document) -> str:
    """The collection's name and its columns as JSON, as `apply_batch` takes a document."""
    texts = {name: to_stored(value) if isinstance(value, str) else value for name, value in document.sorts.items()}
    facets = {name: to_stored(encode_facet(value)) for name, value in document.facets.items()}
    terms = _terms(document.terms)
    fields = {**facets, **texts, "weight": document.weight, "terms": terms}
    if document.collection.is_ranked:
        fields["words"] = [term for term in terms if can_be_misspelt(term)]
    return f"{document.collection.name} {msgspec.json.encode(fields).decode()}"


def _terms(terms: tuple[str, ...]) -> list[str]:
    """As many of the terms as the index can hold for one document."""
    kept: list[str] = []
    size = 0
    for term in terms:
        size += len(term.encode())
        if size > _MAX_TERMS_BYTES:
            break
        if term:
            kept.append(term)
    return kept
