"""Rows of an inventory as lines of JSON, and back.

The same row gives the same bytes on every engine and in every release that has this format: fields stand in one order, what is
at its default is left out, and nothing that belongs to an engine is in them. So the digest of a part says what is in it.
"""

from __future__ import annotations

import base64

import msgspec

from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.events import Event
from vskill_platform.ports.inventory import KeptEntry, KeptMessage


class _Line(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """Bytes are `text` where they are valid UTF-8, so that people can read an export, and `base64` where not."""

    def content(self) -> bytes:
        """The bytes that the line holds."""
        text, encoded = getattr(self, "text", None), getattr(self, "base64", None)
        return (text or "").encode() if encoded is None else base64.b64decode(encoded, validate=True)


class RecordLine(_Line, frozen=True, kw_only=True, rename="camel"):
    """A key."""

    key: str
    expires_ms: int | None = None
    due_ms: int | None = None
    text: str | None = None
    base64: str | None = None

    def row(self) -> KeptEntry:
        """The entry that the line holds."""
        return KeptEntry(self.key, self.content(), self.expires_ms, self.due_ms)


class MessageLine(_Line, frozen=True, kw_only=True, rename="camel"):
    """A message."""

    id: str
    queue: str
    status: MessageStatus
    sent_ms: int
    priority: int = 0
    attempts: int = 0
    ready_ms: int | None = None
    error: str | None = None
    is_suspect: bool = False
    text: str | None = None
    base64: str | None = None

    def row(self) -> KeptMessage:
        """The message that the line holds."""
        return KeptMessage(
            id=MessageId(self.id),
            queue=self.queue,
            body=self.content(),
            priority=self.priority,
            status=self.status,
            attempts=self.attempts,
            sent_ms=self.sent_ms,
            ready_ms=self.ready_ms,
            error=self.error,
            is_suspect=self.is_suspect,
        )


class EventLine(_Line, frozen=True, kw_only=True, rename="camel"):
    """An event."""

    sequence: int
    at_ms: int
    kind: str
    subject: str
    text: str | None = None
    base64: str | None = None

    def row(self) -> Event:
        """The event that the line holds."""
        return Event(self.sequence, self.at_ms, self.kind, self.subject, self.content())


Line = RecordLine | MessageLine | EventLine


def line_of(row: KeptEntry | KeptMessage | Event) -> Line:
    """The line that holds a row. A message under a lease is written as one that waits: the lease stays behind."""
    match row:
        case KeptEntry():
            text, encoded = _hold(row.value)
            return RecordLine(key=row.key, text=text, base64=encoded, expires_ms=row.expires_ms, due_ms=row.due_ms)
        case KeptMessage():
            return _message_line(row)
        case Event():
            text, encoded = _hold(row.data)
            sequence, at_ms, kind, subject, _ = row
            return EventLine(sequence=sequence, at_ms=at_ms, kind=kind, subject=subject, text=text, base64=encoded)


def _message_line(row: KeptMessage) -> MessageLine:
    text, encoded = _hold(row.body)
    return MessageLine(
        id=row.id,
        queue=row.queue,
        status=MessageStatus.WAITING if row.status is MessageStatus.LEASED else row.status,
        sent_ms=row.sent_ms,
        priority=row.priority,
        attempts=row.attempts,
        ready_ms=row.ready_ms,
        error=row.error,
        is_suspect=row.is_suspect,
        text=text,
        base64=encoded,
    )


def _hold(content: bytes) -> tuple[str | None, str | None]:
    try:
        return content.decode() or None, None
    except UnicodeDecodeError:
        return None, base64.b64encode(content).decode()
