"""Everything an engine holds, as of one moment: what a registry is packed from when it moves to another engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol

from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.events import Event


class KeptEntry(NamedTuple):
    """A key with its value, when it expires, and its place in the due index. Versions belong to the engine and stay there."""

    key: str
    value: bytes
    expires_ms: int | None = None
    due_ms: int | None = None


class KeptMessage(NamedTuple):
    """A message as it stands. `ready_ms` is when its delay ends, and None unless it is delayed."""

    id: MessageId
    queue: str
    body: bytes
    priority: int
    status: MessageStatus
    attempts: int
    sent_ms: int
    ready_ms: int | None
    error: str | None
    is_suspect: bool


KeptRow = KeptEntry | KeptMessage | Event
"""What an inventory lists and `ports.commit.Restore` writes. The catalog is not among it: it is derived."""


class Inventory(Protocol):
    """All rows of one moment, whatever is committed while it is read. Chunks are bounded, so memory does not grow."""

    def entries(self) -> AsyncIterator[Sequence[KeptEntry]]:
        """Every key in the order of its bytes. What had expired by then is not there."""
        ...

    def messages(self) -> AsyncIterator[Sequence[KeptMessage]]:
        """Every message of every queue in the order they were sent; lapsed leases and ended delays have taken effect."""
        ...

    def events(self) -> AsyncIterator[Sequence[Event]]:
        """Every event that is kept, in order."""
        ...
