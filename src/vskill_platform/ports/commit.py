"""The one way to write. A commit is all or nothing, and what it acknowledges survives the process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from vskill_platform.domain.catalog import Collection, Document
from vskill_platform.domain.errors import CommitTooLarge, InvalidInput, MessageTooLarge
from vskill_platform.domain.ids import CommitId, MessageId
from vskill_platform.ports.kv import check_key, check_value

MAX_OPERATIONS = 10_000
MAX_MESSAGE_BYTES = 128 * 1024
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


Settlement = Ack | Retry | Release | Bury
Operation = Put | Delete | Check | Add | Send | Settlement | CheckIdle | Index | Unindex | Emit


class Committed(NamedTuple):
    """The commit's sequence number: the version of every key it wrote."""

    version: int


class Commit(Protocol):
    """Atomic writes.

    Operations apply in order, as one. All conditions (`if_version`, leases, `Check`, `CheckIdle`) are judged against the
    state before the commit. `if_version` that does not match, or a `CheckIdle` that fails, raises Conflict; a lease that
    lapsed or was taken over raises LeaseLost; a message id or catalog id that exists already for `Send` raises Conflict.
    A key may be written once in a commit; writing it twice raises InvalidInput. In every such case nothing is written.

    When the call returns, the commit is on disk. When it raises StoreUnavailable, nothing was written. When the
    connection was lost in between, the engine looks the commit's id up and answers as if it had not been; only if that
    takes longer than the engine's limit does it raise CommitUnknown.

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


def check_operations(operations: Sequence[Operation]) -> None:
    """Raise for a commit that breaks a limit, before any of it is tried."""
    if len(operations) > MAX_OPERATIONS:
        raise CommitTooLarge(
            f"A commit has at most {MAX_OPERATIONS} operations; this one has {len(operations)}. Split it.",
            operations=len(operations),
        )
    written: set[str] = set()
    for operation in operations:
        match operation:
            case Put(key=key) | Delete(key=key) | Add(key=key):
                check_key(key)
                if key in written:
                    raise InvalidInput(f"The commit writes '{key}' twice.", key=key)
                written.add(key)
                if isinstance(operation, Put):
                    check_value(key, operation.value)
            case Check(key=key):
                check_key(key)
            case Send():
                check_message(operation)
            case _:
                pass


def check_message(message: Send) -> None:
    """Raise MessageTooLarge unless the message fits."""
    if len(message.body) > MAX_MESSAGE_BYTES:
        raise MessageTooLarge(
            f"A message has at most {MAX_MESSAGE_BYTES} bytes; this one has {len(message.body)}. "
            "Send a name for the data, not the data.",
            size=len(message.body),
        )
