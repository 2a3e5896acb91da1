"""The queue: at least once, leased, fenced. Sending and settling are operations of a commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from vskill_platform.domain.errors import VskillError
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.commit import Ack, Bury, Committed, Lease, Operation, Release, Retry, Settlement

MAX_RECEIVE = 1000
MAX_LINE = 100_000


@dataclass(slots=True, eq=False)
class Message:
    """One delivery of a message. The first decision about it wins; later ones change nothing."""

    id: MessageId
    body: bytes
    attempts: int
    lease: Lease
    is_suspect: bool = False
    priority: int = 0
    settlement: Settlement | None = field(default=None)
    is_settled: bool = field(default=False)

    def ack(self) -> None:
        """Decide: done."""
        self.decide(Ack(self.lease))

    def retry(self, *, error: str = "retried by the handler", delay_s: float = 0.0) -> None:
        """Decide: failed, deliver again after the delay."""
        self.decide(Retry(self.lease, error, delay_s))

    def release(self, *, delay_s: float = 0.0) -> None:
        """Decide: not worked on, back to the queue, attempt not counted."""
        self.decide(Release(self.lease, delay_s))

    def bury(self, *, error: str) -> None:
        """Decide: hopeless, a dead letter now."""
        self.decide(Bury(self.lease, error))

    def decide(self, settlement: Settlement) -> None:
        """Record a decision unless there is one."""
        if self.settlement is None:
            self.settlement = settlement

    def mark_settled(self) -> None:
        """Note that a commit has carried the settlement out: nobody needs to do it again."""
        self.decide(Ack(self.lease))
        self.is_settled = True


@dataclass(slots=True, eq=False)
class MessageBatch:
    """Messages handed to a handler together. A message's own decision beats the batch's, whichever came first."""

    queue: str
    messages: Sequence[Message]
    _rest: str | None = field(default=None)

    def ack_all(self) -> None:
        """Decide for every message without a decision of its own: done. The first decision for the batch wins."""
        self._rest = self._rest or "ack"

    def retry_all(self) -> None:
        """Decide for every message without a decision of its own: deliver again."""
        self._rest = self._rest or "retry"

    def close(self, error: BaseException | None = None) -> None:
        """The handler ended: what it left open is acked if it returned, retried if it raised, unless it decided for all."""
        rest = self._rest or ("ack" if error is None else "retry")
        for message in self.messages:
            if rest == "ack":
                message.ack()
            else:
                message.retry(error=f"{type(error).__name__}: {error}" if error else "retried by the handler")


class Exchange(NamedTuple):
    """What an exchange did: the outcome of each commit that rode along, and the messages that were pulled."""

    outcomes: list[Committed | VskillError]
    messages: list[Message]


class QueueStats(NamedTuple):
    """How a queue stands. `oldest_ms` is when the oldest message that is not dead was sent."""

    waiting: int
    delayed: int
    leased: int
    dead: int
    oldest_ms: int | None


class MessageInfo(NamedTuple):
    """What an operator sees of a message. `ready_ms` is when a delay or a lease ends; otherwise it means nothing."""

    id: MessageId
    queue: str
    status: MessageStatus
    attempts: int
    sent_ms: int
    ready_ms: int
    error: str | None
    is_suspect: bool
    body: bytes


class WaitingMessage(NamedTuple):
    """A message in its place in the line."""

    id: MessageId
    body: bytes


class MessagePage(NamedTuple):
    """One page of messages."""

    messages: list[MessageInfo]
    cursor: str | None
    complete: bool


class Queue(Protocol):
    """Named queues with Cloudflare Queues' semantics.

    A message that was sent is delivered until it is settled: at least once, in priority order and best-effort FIFO
    within one priority. A delivery gives its holder a lease; only the lease settles the message. `attempts` counts
    deliveries from 1. A lease that lapses without a word ends the delivery: the message becomes a suspect and is
    delivered again, alone. After `max_attempts` deliveries that failed or lapsed, a message is a dead letter and keeps
    its last error. Nothing but `Ack` and `drop` removes a message.
    """

    async def receive(self, queue: str, *, max_messages: int, lease_s: float, wait_s: float = 0.0) -> list[Message]:
        """Pull up to `max_messages` (1 to 1000), waiting up to `wait_s` for the first. Never waits to fill.

        A suspect comes alone.
        """
        ...

    async def exchange(
        self, queue: str, commits: Sequence[Sequence[Operation]], *, max_messages: int, lease_s: float
    ) -> Exchange:
        """Carry out commits, each on its own (one that fails does not touch the others), and pull, in one round trip.

        `max_messages` may be 0: then nothing is pulled. Does not wait.
        """
        ...

    async def wait_ready(self, queue: str, *, wait_s: float) -> None:
        """Return when a message may be there to pull, or after `wait_s`. Takes nothing, so it is safe to cancel."""
        ...

    async def extend(self, leases: Sequence[Lease], *, lease_s: float) -> list[bool]:
        """Give live leases `lease_s` from now. For each, in order: whether it was still live."""
        ...

    async def stats(self, queue: str) -> QueueStats:
        """Exact counts as of now; a lapsed lease counts as waiting (or dead), whether or not anyone has looked."""
        ...

    async def peek(
        self, queue: str, *, status: MessageStatus, cursor: str | None = None, limit: int = 100
    ) -> MessagePage:
        """Messages of a status in the order they were sent, without touching them."""
        ...

    async def line(self, queue: str, *, limit: int = MAX_LINE) -> list[WaitingMessage]:
        """The messages that wait, the next to be delivered first: at most `limit` (1 to 100,000).

        One whose delay or lease has just ended may stand in it only after the next pull.
        """
        ...

    async def find(self, ids: Sequence[MessageId]) -> dict[MessageId, MessageInfo]:
        """Those of the messages that exist, in any queue."""
        ...

    async def requeue(self, ids: Sequence[MessageId]) -> list[MessageId]:
        """Make dead letters (and delayed messages) deliverable now, attempts from the start. Returns those that were."""
        ...

    async def drop(self, ids: Sequence[MessageId], *, reason: str) -> list[MessageId]:
        """Remove messages that are not under a live lease. Returns those that were.

        Each leaves an event `message.dropped` with its id, its queue and the reason, in the same commit.
        """
        ...
