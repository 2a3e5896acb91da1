"""Everything in the memory engine, copied at one moment."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.engines.memory.state import MemoryState, StoredMessage
from vskill_platform.ports.events import Event
from vskill_platform.ports.inventory import KeptEntry, KeptMessage

T = TypeVar("T")
_CHUNK = 512


class MemoryInventory:
    """Inventory of a MemoryState as it was when this was made."""

    def __init__(self, state: MemoryState) -> None:
        state.check_open()
        state.settle_timers()
        rows = [(key, state.live_row(key)) for key in state.keys]
        self._entries = [
            KeptEntry(key, row.entry.value, row.expires_ms, row.due_ms) for key, row in rows if row is not None
        ]
        self._messages = [_keep(message) for message in sorted(state.messages.values(), key=lambda m: m.number)]
        self._events = list(state.events)

    def entries(self) -> AsyncIterator[Sequence[KeptEntry]]:
        """Every key."""
        return _chunks(self._entries)

    def messages(self) -> AsyncIterator[Sequence[KeptMessage]]:
        """Every message."""
        return _chunks(self._messages)

    def events(self) -> AsyncIterator[Sequence[Event]]:
        """Every event."""
        return _chunks(self._events)


async def _chunks(rows: list[T]) -> AsyncIterator[Sequence[T]]:
    for start in range(0, len(rows), _CHUNK):
        yield rows[start : start + _CHUNK]


def _keep(message: StoredMessage) -> KeptMessage:
    return KeptMessage(
        id=MessageId(message.id),
        queue=message.queue,
        body=message.body,
        priority=message.priority,
        status=message.status,
        attempts=message.attempts,
        sent_ms=message.sent_ms,
        ready_ms=message.at_ms if message.status is MessageStatus.DELAYED else None,
        error=message.error,
        is_suspect=message.is_suspect,
    )
