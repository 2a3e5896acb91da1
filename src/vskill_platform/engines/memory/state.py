"""What the memory engine holds, and the few moves that keep its parts in step with each other."""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from dataclasses import dataclass, field

from vskill_platform.domain.catalog import Document
from vskill_platform.domain.delivery import LAPSED_ERROR
from vskill_platform.domain.errors import EngineClosed
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.engines.waiting import Signal
from vskill_platform.ports.clock import Clock
from vskill_platform.ports.events import Event
from vskill_platform.ports.kv import Entry


@dataclass(slots=True)
class Row:
    """One key's value."""

    entry: Entry
    expires_ms: int | None
    due_ms: int | None


@dataclass(slots=True)
class StoredMessage:
    """One message. `at_ms` is when it is ready while delayed, and when its lease ends while leased."""

    id: str
    queue: str
    number: int
    body: bytes
    priority: int
    sent_ms: int
    at_ms: int
    status: MessageStatus = MessageStatus.WAITING
    attempts: int = 0
    token: int = 0
    is_suspect: bool = False
    error: str | None = None

    @property
    def order(self) -> tuple[int, int, str]:
        """Where the message stands among those that wait."""
        return (-self.priority, self.number, self.id)


@dataclass(slots=True)
class MemoryState:
    """The whole state. Nothing in this engine yields between looking and writing, so every call is atomic."""

    clock: Clock
    max_attempts: int = field(kw_only=True)
    sequence: int = 0
    is_closed: bool = False
    rows: dict[str, Row] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    due: list[tuple[int, str]] = field(default_factory=list)
    commits: dict[str, tuple[int, int]] = field(default_factory=dict)
    messages: dict[str, StoredMessage] = field(default_factory=dict)
    waiting: dict[str, list[tuple[int, int, str]]] = field(default_factory=dict)
    timed: list[tuple[int, str, int]] = field(default_factory=list)
    message_number: int = 0
    documents: dict[str, dict[str, Document]] = field(default_factory=dict)
    catalog_form: int = 0
    events: list[Event] = field(default_factory=list)
    event_sequence: int = 0
    arrivals: Signal = field(default_factory=Signal)
    emissions: Signal = field(default_factory=Signal)

    def check_open(self) -> None:
        """Raise EngineClosed after close."""
        if self.is_closed:
            raise EngineClosed("The engine was closed.")

    def live_row(self, key: str) -> Row | None:
        """The row under a key unless it has expired."""
        row = self.rows.get(key)
        if row is None or (row.expires_ms is not None and row.expires_ms <= self.clock.now_ms()):
            return None
        return row

    def put_row(self, key: str, row: Row) -> None:
        """Write a row and its place in both indexes."""
        self.remove_row(key)
        self.rows[key] = row
        insort(self.keys, key)
        if row.due_ms is not None:
            insort(self.due, (row.due_ms, key))

    def remove_row(self, key: str) -> None:
        """Remove a row and its places in the indexes, if it is there."""
        row = self.rows.pop(key, None)
        if row is None:
            return
        del self.keys[bisect_left(self.keys, key)]
        if row.due_ms is not None:
            del self.due[bisect_left(self.due, (row.due_ms, key))]

    def make_waiting(self, message: StoredMessage) -> None:
        """Put a message where the next pull finds it."""
        message.status = MessageStatus.WAITING
        insort(self.waiting.setdefault(message.queue, []), message.order)

    def make_timed(self, message: StoredMessage, status: MessageStatus, at_ms: int) -> None:
        """Delay or lease a message until a moment."""
        message.status, message.at_ms = status, at_ms
        heapq.heappush(self.timed, (at_ms, message.id, message.token))

    def leave_waiting(self, message: StoredMessage) -> None:
        """Take a message out of the line, if it stands there."""
        if message.status is MessageStatus.WAITING:
            line = self.waiting[message.queue]
            del line[bisect_left(line, message.order)]

    def move_to(self, message: StoredMessage, *, priority: int) -> None:
        """Give a message another priority, and with it another place if it stands in the line."""
        self.leave_waiting(message)
        message.priority = priority
        if message.status is MessageStatus.WAITING:
            self.make_waiting(message)

    def settle_timers(self) -> None:
        """Let delays that are over and leases that have lapsed take effect."""
        now_ms = self.clock.now_ms()
        while self.timed and self.timed[0][0] <= now_ms:
            _, identity, token = heapq.heappop(self.timed)
            message = self.messages.get(identity)
            if message is None or message.token != token or message.at_ms > now_ms:
                continue
            if message.status is MessageStatus.DELAYED:
                self.make_waiting(message)
            elif message.status is MessageStatus.LEASED:
                message.is_suspect, message.error = True, LAPSED_ERROR
                self.end_attempt(message)

    def end_attempt(self, message: StoredMessage, *, delay_ms: int = 0) -> None:
        """After a failed or lapsed attempt: deliver again, or keep as a dead letter."""
        if message.attempts >= self.max_attempts:
            message.status = MessageStatus.DEAD
        else:
            self.make_ready(message, delay_ms=delay_ms)

    def make_ready(self, message: StoredMessage, *, delay_ms: int = 0) -> None:
        """Deliver a message again, now or after a delay."""
        message.at_ms = self.clock.now_ms() + delay_ms
        if delay_ms > 0:
            self.make_timed(message, MessageStatus.DELAYED, message.at_ms)
        else:
            self.make_waiting(message)
