"""The event log: the outbox of everything that is told to anyone."""

from __future__ import annotations

from typing import NamedTuple, Protocol

MAX_EVENTS_PAGE = 1000


class Event(NamedTuple):
    """One thing that happened. `sequence` grows without end and is never reused."""

    sequence: int
    at_ms: int
    kind: str
    subject: str
    data: bytes


class EventPage(NamedTuple):
    """Events after a reader's cursor, in order.

    `last` is the cursor to come back with. `reset` says that events after the reader's cursor are no longer kept (or
    that the cursor is from another log): the reader must read the records afresh, and go on from `last`.
    """

    events: list[Event]
    last: int
    reset: bool


class Events(Protocol):
    """An append-only log that any number of readers follow, each with a cursor of its own.

    Once a reader has seen n, no event m < n appears later. Events of one commit stand together, in the order of its
    operations.
    """

    async def read(self, after: int, *, limit: int = MAX_EVENTS_PAGE, wait_s: float = 0.0) -> EventPage:
        """Events after the cursor (0 is the beginning), waiting up to `wait_s` for the first. Safe to cancel."""
        ...

    async def last_sequence(self) -> int:
        """The sequence of the newest event ever, 0 before any: where a reader begins that wants only what is to come."""
        ...

    async def trim(self, *, before_ms: int) -> int:
        """Forget events older than that, and say how many went. The newest is always kept."""
        ...
