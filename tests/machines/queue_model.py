"""What queues must do, in one dict of messages: the words of `ports.queue` and nothing of an engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vskill_platform.domain.delivery import LAPSED_ERROR
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.commit import Ack, Bury, Lease, Release, Retry, Send, Settlement
from vskill_platform.ports.queue import QueueStats

WAITING, DELAYED, LEASED, DEAD = (
    MessageStatus.WAITING,
    MessageStatus.DELAYED,
    MessageStatus.LEASED,
    MessageStatus.DEAD,
)


@dataclass
class ModelMessage:
    """One message as it ought to be. `until_ms` is the end of its delay or of its lease."""

    id: str
    queue: str
    number: int
    priority: int
    body: bytes
    sent_ms: int
    status: MessageStatus = WAITING
    until_ms: float = 0
    attempts: int = 0
    lease: Lease | None = None
    is_suspect: bool = False
    error: str | None = None

    @property
    def facts(self) -> tuple[object, ...]:
        """What an operator must see of the message."""
        until_ms = self.until_ms if self.status in (DELAYED, LEASED) else None
        return (
            self.id,
            self.queue,
            self.status,
            self.attempts,
            self.sent_ms,
            until_ms,
            self.error,
            self.is_suspect,
            self.body,
        )


@dataclass
class QueueModel:
    """The queues as they ought to be. Each call is given the time, and first lets that time take effect."""

    max_attempts: int
    messages: dict[str, ModelMessage] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    sent: int = 0

    def pass_time(self, now_ms: int) -> None:
        """Delays end; leases lapse."""
        for message in self.messages.values():
            if message.status is DELAYED and message.until_ms <= now_ms:
                message.status = WAITING
            elif message.status is LEASED and message.until_ms <= now_ms:
                self._lapse(message)

    def lose_worker(self) -> None:
        """The process that held every lease is gone: each attempt counts, and each message is a suspect."""
        for message in self.messages.values():
            if message.status is LEASED:
                self._lapse(message)

    def send(self, send: Send, now_ms: int) -> None:
        """A message came."""
        self.sent += 1
        message = ModelMessage(send.id, send.queue, self.sent, send.priority, send.body, now_ms)
        self.messages[send.id] = message
        self._return(message, send.delay_s, now_ms)

    def next_batch(self, queue: str, most: int) -> list[ModelMessage]:
        """What the next pull gives: by priority, then in the order of sending; a suspect alone."""
        line = sorted(self._of(queue, WAITING), key=lambda message: (-message.priority, message.number))[:most]
        suspects = [position for position, message in enumerate(line) if message.is_suspect]
        return line[: max(suspects[0], 1)] if suspects else line

    def deliver(self, message: ModelMessage, lease: Lease, *, until_ms: float) -> None:
        """A message was handed out."""
        message.status, message.until_ms, message.lease = LEASED, until_ms, lease
        message.attempts += 1

    def is_live(self, lease: Lease) -> bool:
        """Whether the lease still gives the right to settle."""
        message = self.messages.get(lease.message_id)
        return message is not None and message.status is LEASED and message.lease == lease

    def can_settle(self, settlements: Sequence[Settlement]) -> bool:
        """Whether one commit may carry all of them."""
        ids = [settlement.lease.message_id for settlement in settlements]
        return len(ids) == len(set(ids)) and all(self.is_live(settlement.lease) for settlement in settlements)

    def settle(self, settlement: Settlement, now_ms: int) -> None:
        """A settlement with a live lease was committed."""
        message = self.messages[settlement.lease.message_id]
        match settlement:
            case Ack():
                del self.messages[message.id]
            case Retry(error=error, delay_s=delay_s):
                message.error, message.is_suspect = error, False
                self._end_attempt(message, delay_s, now_ms)
            case Release(delay_s=delay_s):
                message.attempts -= 1
                self._return(message, delay_s, now_ms)
            case Bury(error=error):
                message.error, message.status = error, DEAD

    def extend(self, lease: Lease, until_ms: float) -> bool:
        """Prolong a lease if it is live."""
        if not self.is_live(lease):
            return False
        self.messages[lease.message_id].until_ms = until_ms
        return True

    def requeue(self, ids: Sequence[str]) -> list[str]:
        """Dead and delayed messages start again."""
        moved = [id for id in dict.fromkeys(ids) if id in self.messages and self.messages[id].status in (DEAD, DELAYED)]
        for id in moved:
            message = self.messages[id]
            message.status, message.attempts, message.is_suspect = WAITING, 0, False
        return moved

    def drop(self, ids: Sequence[str]) -> list[str]:
        """Messages go, unless somebody works on them."""
        gone = [id for id in dict.fromkeys(ids) if id in self.messages and self.messages[id].status is not LEASED]
        for id in gone:
            del self.messages[id]
        self.dropped.extend(gone)
        return gone

    def reprioritise(self, id: str, priority: int) -> bool:
        """A message gets another priority, unless somebody works on it."""
        message = self.messages.get(id)
        if message is None or message.status is LEASED:
            return False
        message.priority = priority
        return True

    def stats(self, queue: str) -> QueueStats:
        """The counts of a queue."""
        waiting, delayed, leased, dead = (self._of(queue, status) for status in (WAITING, DELAYED, LEASED, DEAD))
        oldest_ms = min((message.sent_ms for message in (*waiting, *delayed, *leased)), default=None)
        return QueueStats(len(waiting), len(delayed), len(leased), len(dead), oldest_ms)

    def peek(self, queue: str, status: MessageStatus) -> list[str]:
        """Ids of a status, in the order of sending."""
        return [message.id for message in sorted(self._of(queue, status), key=lambda message: message.number)]

    def _of(self, queue: str, status: MessageStatus) -> list[ModelMessage]:
        return [message for message in self.messages.values() if message.queue == queue and message.status is status]

    def _lapse(self, message: ModelMessage) -> None:
        message.error, message.is_suspect = LAPSED_ERROR, True
        self._end_attempt(message, 0, 0)

    def _end_attempt(self, message: ModelMessage, delay_s: float, now_ms: int) -> None:
        if message.attempts >= self.max_attempts:
            message.status = DEAD
        else:
            self._return(message, delay_s, now_ms)

    def _return(self, message: ModelMessage, delay_s: float, now_ms: int) -> None:
        message.status = DELAYED if delay_s > 0 else WAITING
        message.until_ms = now_ms + delay_s * 1000
