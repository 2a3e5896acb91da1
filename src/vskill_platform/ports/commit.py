"""The one way to write. A commit is all or nothing, and what it acknowledges survives the process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from vskill_platform.domain.catalog import MAX_NUMBER, MIN_NUMBER, Collection, Document
from vskill_platform.domain.errors import (
    CommitTooLarge,
    Conflict,
    InvalidInput,
    LeaseLost,
    MessageTooLarge,
    VskillError,
)
from vskill_platform.domain.ids import CommitId, MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.events import Event
from vskill_platform.ports.inventory import KeptEntry, KeptMessage, KeptRow
from vskill_platform.ports.kv import check_key, check_text, check_value

MAX_OPERATIONS = 10_000
MAX_MESSAGE_BYTES = 128 * 1024
MAX_SECONDS = 100 * 366 * 24 * 3600
ABSENT = 0
"""As `if_version`: the key must not exist."""


class Lease(NamedTuple):
    """The right to settle one delivery of a message. The token changes with every delivery, so an old one is worthless."""

    message_id: MessageId
    token: int


@dataclass(frozen=True, slots=True)
class Put:
    """Write a value. `ttl_s` makes it expire by the engine's clock; `due_ms` enters it in the due index."""

    key: str
    value: bytes
    if_version: int | None = None
    ttl_s: float | None = None
    due_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a key. Removing an absent key is no error unless `if_version` says what must be there."""

    key: str
    if_version: int | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Write nothing, but hold the commit to the key's version."""

    key: str
    if_version: int


@dataclass(frozen=True, slots=True)
class Add:
    """Add to the fields of a counter (a JSON object of integers) without reading it. An absent one starts at zero."""

    key: str
    amounts: Mapping[str, int]
    ttl_s: float | None = None


@dataclass(frozen=True, slots=True)
class Send:
    """Put a message into a queue. Higher priority is delivered first; `delay_s` holds it back."""

    queue: str
    id: MessageId
    body: bytes
    delay_s: float = 0.0
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Ack:
    """The message is done: remove it."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class Retry:
    """The attempt failed: deliver again after a delay, or make it a dead letter if that was the last attempt."""

    lease: Lease
    error: str
    delay_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Release:
    """The message was not worked on: back to the queue, and the attempt does not count."""

    lease: Lease
    delay_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Bury:
    """Trying again cannot help: make it a dead letter now."""

    lease: Lease
    error: str


@dataclass(frozen=True, slots=True)
class CheckIdle:
    """Write nothing, but hold the commit to the message not being under a live lease. An absent message is idle."""

    message_id: MessageId


@dataclass(frozen=True, slots=True)
class CheckLease:
    """Write nothing, but hold the commit to this lease being live."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class CheckStatus:
    """Write nothing, but hold the commit to the message having this status; one that does not exist is GONE."""

    message_id: MessageId
    status: MessageStatus


@dataclass(frozen=True, slots=True)
class Requeue:
    """By hand: a dead or delayed message is deliverable now, its attempts counted from the start."""

    message_id: MessageId


@dataclass(frozen=True, slots=True)
class DropMessage:
    """By hand: remove a message that nobody works on. It leaves an event `message.dropped` with its queue and the reason."""

    message_id: MessageId
    reason: str


@dataclass(frozen=True, slots=True)
class Reprioritise:
    """By hand: give a waiting, delayed or dead message another priority. Among equals its place is that of its sending."""

    message_id: MessageId
    priority: int


@dataclass(frozen=True, slots=True)
class Index:
    """Write a document to the catalog, in place of the one with the same id."""

    document: Document


@dataclass(frozen=True, slots=True)
class Unindex:
    """Remove a document from the catalog; an absent one is no error."""

    collection: Collection
    id: str


@dataclass(frozen=True, slots=True)
class Emit:
    """Append an event to the log."""

    kind: str
    subject: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Restore:
    """Write a row of another engine's inventory as it was: a key with its moment of expiry, a message with its attempts, an
    event with its sequence. For moving a registry, and for nothing else.

    A key is written as `Put` writes it, but that `expires_ms` is a moment. A message whose id exists raises Conflict; one
    that is leased cannot be restored, because its lease belongs to a process elsewhere. An event must come after every
    event of the log, else Conflict; what is emitted later comes after it.
    """

    row: KeptRow


Settlement = Ack | Retry | Release | Bury
ByHand = Requeue | DropMessage | Reprioritise
"""What an operator does to a message without a lease on it."""
Operation = (
    Put
    | Delete
    | Check
    | Add
    | Send
    | Settlement
    | ByHand
    | CheckIdle
    | CheckLease
    | CheckStatus
    | Index
    | Unindex
    | Emit
    | Restore
)


MOVABLE = {
    Requeue: (MessageStatus.DELAYED, MessageStatus.DEAD),
    DropMessage: (MessageStatus.WAITING, MessageStatus.DELAYED, MessageStatus.DEAD),
    Reprioritise: (MessageStatus.WAITING, MessageStatus.DELAYED, MessageStatus.DEAD),
}
"""The statuses in which a message can be touched by hand, by what is done to it."""

_RESTORED = (MessageStatus.WAITING, MessageStatus.DELAYED, MessageStatus.DEAD)
COMMITS_KEPT_MS = 24 * 3600 * 1000
"""How long the id of a commit is known at least."""


def lease_lost(lease: Lease) -> LeaseLost:
    """The answer to whoever comes with a lease that is over."""
    return LeaseLost(
        f"The lease on message '{lease.message_id}' is over; another worker may have it.", message_id=lease.message_id
    )


def not_movable(operation: ByHand, status: MessageStatus) -> Conflict:
    """The answer to whoever reaches for a message that has another status than it would need."""
    id, allowed = operation.message_id, " or ".join(status.value for status in MOVABLE[type(operation)])
    return Conflict(f"The message '{id}' is {status.value}, not {allowed}.", message_id=id)


class Committed(NamedTuple):
    """The commit's sequence number: the version of every key it wrote."""

    version: int


class Commit(Protocol):
    """Atomic writes.

    Operations apply in order, as one. All conditions (`if_version`, leases, and the checks) are judged against the state
    before the commit. `if_version` that does not match, or a `CheckIdle` or `CheckStatus` that fails, raises Conflict; so
    does a `Send` with the id of a message that exists, and a `Requeue`, `DropMessage` or `Reprioritise` of one that has not
    a status for it (one under a live lease has none). A lease that lapsed or was taken over raises LeaseLost.
    A key may be written, and a message touched by hand, once in a commit; doing it twice raises InvalidInput. `Add` to a
    value that is no counter raises MalformedRecord. In every such case nothing is written.

    When the call returns, the commit is on disk. When it raises StoreUnavailable, nothing was written. When the
    connection was lost in between, the engine looks the commit's id up and answers as if it had not been; only if that
    takes longer than the engine's limit does it raise CommitUnknown. So it does where a disk fails in the middle of a commit
    and goes on failing: nobody sees the commit then, but the next process to open the store may find it, whole.

    Cancelling the caller does not undo a commit that was handed over: it happens or not, whole.
    """

    async def commit(self, operations: Sequence[Operation], *, id: CommitId | None = None) -> Committed:
        """Apply the operations, at most 10,000. A commit whose id was committed before writes nothing and returns the same."""
        ...

    async def find_commit(self, id: CommitId) -> Committed | None:
        """What a commit with this id wrote, or None if there was none. Ids are kept for at least a day."""
        ...

    async def purge(self) -> int:
        """Remove what has expired (values, old commit ids) and say how many rows went. Nobody can tell but the disk."""
        ...


@runtime_checkable
class TellsTrouble(Protocol):
    """An engine that knows whether its disk takes what is written, without trying."""

    @property
    def trouble(self) -> VskillError | None:
        """What the store failed with at the last commit, if that was its fault; None once a commit has succeeded."""
        ...


def check_operations(operations: Sequence[Operation]) -> None:
    """Raise for a commit that breaks a limit, before any of it is tried."""
    if len(operations) > MAX_OPERATIONS:
        raise CommitTooLarge(
            f"A commit has at most {MAX_OPERATIONS} operations; this one has {len(operations)}. Split it.",
            operations=len(operations),
        )
    written: set[str] = set()
    touched: set[str] = set()
    for operation in operations:
        check_operation(operation)
        match operation:
            case Put(key=key) | Delete(key=key) | Add(key=key) | Restore(row=KeptEntry(key=key)):
                if key in written:
                    raise InvalidInput(f"The commit writes '{key}' twice.", key=key)
                written.add(key)
            case Requeue(message_id=id) | DropMessage(message_id=id) | Reprioritise(message_id=id):
                if id in touched:
                    raise InvalidInput(f"The commit touches the message '{id}' twice.", message_id=id)
                touched.add(id)
            case _:
                pass


def check_operation(operation: Operation) -> None:
    """Raise for an operation that no engine could keep: over a limit, or holding what is neither text nor a number."""
    match operation:
        case Put(key=key, value=value, ttl_s=ttl_s, due_ms=due_ms):
            check_key(key)
            check_value(key, value)
            _check_seconds(ttl_s)
            _check_number(due_ms)
        case Add(key=key, amounts=amounts, ttl_s=ttl_s):
            check_key(key)
            _check_seconds(ttl_s)
            check_text(*amounts)
        case Delete(key=key) | Check(key=key):
            check_key(key)
        case Send():
            check_text(operation.queue, operation.id)
            _check_seconds(operation.delay_s)
            _check_number(operation.priority)
            _check_size(operation.body)
        case Retry(delay_s=delay_s) | Release(delay_s=delay_s):
            _check_seconds(delay_s)
        case DropMessage(message_id=id, reason=reason):
            check_text(id, reason)
        case Requeue(message_id=id):
            check_text(id)
        case Reprioritise(message_id=id, priority=priority):
            check_text(id)
            _check_number(priority)
        case Emit(kind=kind, subject=subject):
            check_text(kind, subject)
        case Restore(row=row):
            _check_row(row)
        case Ack() | Bury() | CheckIdle() | CheckLease() | CheckStatus() | Index() | Unindex():
            pass


def _check_row(row: KeptRow) -> None:
    match row:
        case KeptEntry(key=key, value=value):
            check_key(key)
            check_value(key, value)
            _check_number(row.expires_ms)
            _check_number(row.due_ms)
        case KeptMessage():
            check_text(row.queue, row.id, row.error or "")
            _check_size(row.body)
            for number in (row.priority, row.attempts, row.sent_ms, row.ready_ms):
                _check_number(number)
            if row.status not in _RESTORED or (row.status is MessageStatus.DELAYED) != (row.ready_ms is not None):
                raise InvalidInput(f"The message '{row.id}' cannot be restored as {row.status}.", message_id=row.id)
        case Event(kind=kind, subject=subject):
            check_text(kind, subject)
            _check_number(row.sequence)
            _check_number(row.at_ms)


def _check_size(body: bytes) -> None:
    if len(body) > MAX_MESSAGE_BYTES:
        raise MessageTooLarge(
            f"A message has at most {MAX_MESSAGE_BYTES} bytes; this one has {len(body)}. "
            "Send a name for the data, not the data.",
            size=len(body),
        )


def _check_seconds(seconds: float | None) -> None:
    if seconds is not None and not 0 <= seconds <= MAX_SECONDS:
        raise InvalidInput(f"A time to live or a delay is 0 to {MAX_SECONDS} seconds, not {seconds}.", seconds=seconds)


def _check_number(number: int | None) -> None:
    if number is not None and not MIN_NUMBER <= number <= MAX_NUMBER:
        raise InvalidInput(f"{number} does not fit 64 bits.", number=str(number))
