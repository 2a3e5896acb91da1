"""Faults to plant between a machine and its engine. Each is a mistake that somebody could make; each must be seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from vskill_platform.domain.errors import VskillError
from vskill_platform.domain.ids import CommitId, MessageId
from vskill_platform.domain.messages import ProcessSubmission, decode_message
from vskill_platform.domain.records import advance
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.ports.catalog import Catalog
from vskill_platform.ports.commit import (
    Ack,
    Add,
    Check,
    CheckIdle,
    CheckLease,
    Commit,
    Committed,
    Delete,
    Index,
    Lease,
    Operation,
    Put,
    Release,
    Retry,
    Send,
    Settlement,
)
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.events import Events
from vskill_platform.ports.kv import KV
from vskill_platform.ports.limiter import Limiter
from vskill_platform.ports.queue import Exchange, Message, MessageInfo, MessagePage, Queue, QueueStats
from vskill_platform.stores.submissions import find_submission, moving
from vskill_platform.worker_context import current_env

Change = Callable[[Operation], Operation | None]
"""What becomes of an operation on its way into a commit; None leaves it out."""


@dataclass
class AlteredEngine:
    """An engine with some ports replaced."""

    kv: KV
    writes: Commit
    queue: Queue
    catalog: Catalog
    events: Events
    limiter: Limiter

    async def close(self) -> None:
        """The stage closes the engine underneath."""


def alter(engine: Engine, *, writes: Commit | None = None, queue: Queue | None = None) -> Engine:
    """The engine with other ports in place of its own."""
    return AlteredEngine(
        kv=engine.kv,
        writes=writes or engine.writes,
        queue=queue or engine.queue,
        catalog=engine.catalog,
        events=engine.events,
        limiter=engine.limiter,
    )


class AlteredWrites:
    """Commits whose operations are changed on the way."""

    def __init__(self, writes: Commit, change: Change) -> None:
        self._writes = writes
        self._change = change

    async def commit(self, operations: Sequence[Operation], *, id: CommitId | None = None) -> Committed:
        changed = [self._change(operation) for operation in operations]
        return await self._writes.commit([operation for operation in changed if operation is not None], id=id)

    async def find_commit(self, id: CommitId) -> Committed | None:
        return await self._writes.find_commit(id)

    async def purge(self) -> int:
        return await self._writes.purge()


class AlteredQueue:
    """A queue as it is; subclasses alter a call."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    async def receive(self, queue: str, *, max_messages: int, lease_s: float, wait_s: float = 0.0) -> list[Message]:
        return await self._queue.receive(queue, max_messages=max_messages, lease_s=lease_s, wait_s=wait_s)

    async def exchange(
        self, queue: str, commits: Sequence[Sequence[Operation]], *, max_messages: int, lease_s: float
    ) -> Exchange:
        return await self._queue.exchange(queue, commits, max_messages=max_messages, lease_s=lease_s)

    async def wait_ready(self, queue: str, *, wait_s: float) -> None:
        await self._queue.wait_ready(queue, wait_s=wait_s)

    async def extend(self, leases: Sequence[Lease], *, lease_s: float) -> list[bool]:
        return await self._queue.extend(leases, lease_s=lease_s)

    async def stats(self, queue: str) -> QueueStats:
        return await self._queue.stats(queue)

    async def peek(
        self, queue: str, *, status: MessageStatus, cursor: str | None = None, limit: int = 100
    ) -> MessagePage:
        return await self._queue.peek(queue, status=status, cursor=cursor, limit=limit)

    async def find(self, ids: Sequence[MessageId]) -> dict[MessageId, MessageInfo]:
        return await self._queue.find(ids)

    async def requeue(self, ids: Sequence[MessageId]) -> list[MessageId]:
        return await self._queue.requeue(ids)

    async def drop(self, ids: Sequence[MessageId], *, reason: str) -> list[MessageId]:
        return await self._queue.drop(ids, reason=reason)


def commit_ignores_versions(engine: Engine) -> Engine:
    """`if_version` is not looked at."""

    def change(operation: Operation) -> Operation | None:
        match operation:
            case Put() | Delete():
                return replace(operation, if_version=None)
            case Check():
                return None
            case _:
                return operation

    return alter(engine, writes=AlteredWrites(engine.writes, change))


def commit_ignores_ttl(engine: Engine) -> Engine:
    """Nothing ever expires."""

    def change(operation: Operation) -> Operation:
        return replace(operation, ttl_s=None) if isinstance(operation, Put | Add) else operation

    return alter(engine, writes=AlteredWrites(engine.writes, change))


def commit_ignores_due(engine: Engine) -> Engine:
    """Nothing is ever due."""

    def change(operation: Operation) -> Operation:
        return replace(operation, due_ms=None) if isinstance(operation, Put) else operation

    return alter(engine, writes=AlteredWrites(engine.writes, change))


class CommitInParts(AlteredWrites):
    """Each operation is a commit of its own."""

    async def commit(self, operations: Sequence[Operation], *, id: CommitId | None = None) -> Committed:
        committed = await self._writes.commit([], id=id)
        for operation in operations:
            committed = await self._writes.commit([operation])
        return committed


def commit_is_not_atomic(engine: Engine) -> Engine:
    """What came before a failure stays written."""
    return alter(engine, writes=CommitInParts(engine.writes, lambda operation: operation))


class CommitWithoutId(AlteredWrites):
    """Ids are thrown away."""

    async def commit(self, operations: Sequence[Operation], *, id: CommitId | None = None) -> Committed:
        return await self._writes.commit(operations)


def commit_forgets_ids(engine: Engine) -> Engine:
    """A commit that is repeated is done again."""
    return alter(engine, writes=CommitWithoutId(engine.writes, lambda operation: operation))


class LatestLeases(AlteredQueue):
    """Remembers the latest lease of each message."""

    def __init__(self, queue: Queue) -> None:
        super().__init__(queue)
        self.leases: dict[MessageId, Lease] = {}

    async def receive(self, queue: str, *, max_messages: int, lease_s: float, wait_s: float = 0.0) -> list[Message]:
        messages = await super().receive(queue, max_messages=max_messages, lease_s=lease_s, wait_s=wait_s)
        self.leases.update((message.id, message.lease) for message in messages)
        return messages


def settlement_ignores_token(engine: Engine) -> Engine:
    """Whoever names a message settles it, whosever delivery it is."""
    queue = LatestLeases(engine.queue)

    def change(operation: Operation) -> Operation:
        if not isinstance(operation, Settlement):
            return operation
        return replace(operation, lease=queue.leases.get(operation.lease.message_id, operation.lease))

    return alter(engine, writes=AlteredWrites(engine.writes, change), queue=queue)


def release_burns_attempt(engine: Engine) -> Engine:
    """A message that was given back counts as tried."""

    def change(operation: Operation) -> Operation:
        return Retry(operation.lease, "released", operation.delay_s) if isinstance(operation, Release) else operation

    return alter(engine, writes=AlteredWrites(engine.writes, change))


class SuspectsInCompany(AlteredQueue):
    """Fills its batches, whatever is in them."""

    async def receive(self, queue: str, *, max_messages: int, lease_s: float, wait_s: float = 0.0) -> list[Message]:
        messages: list[Message] = []
        while len(messages) < max_messages:
            more = await super().receive(queue, max_messages=max_messages - len(messages), lease_s=lease_s)
            if not more:
                break
            messages.extend(more)
        return messages


def suspects_come_in_company(engine: Engine) -> Engine:
    """A message that killed a worker may take others with it."""
    return alter(engine, queue=SuspectsInCompany(engine.queue))


def send_ignores_priority(engine: Engine) -> Engine:
    """First come, first served."""

    def change(operation: Operation) -> Operation:
        return replace(operation, priority=0) if isinstance(operation, Send) else operation

    return alter(engine, writes=AlteredWrites(engine.writes, change))


class AmnesiacQueue(AlteredQueue):
    """Knows of no message."""

    async def find(self, ids: Sequence[MessageId]) -> dict[MessageId, MessageInfo]:
        return {}


def sweep_goes_by_time_only(engine: Engine) -> Engine:
    """Whatever is old counts as lost, though its message waits."""
    return alter(engine, queue=AmnesiacQueue(engine.queue))


def claim_ignores_others(engine: Engine) -> Engine:
    """A submission is claimed from under a worker that is alive."""

    def change(operation: Operation) -> Operation | None:
        return None if isinstance(operation, CheckIdle) else operation

    return alter(engine, writes=AlteredWrites(engine.writes, change), queue=AmnesiacQueue(engine.queue))


def claim_ignores_lease(engine: Engine) -> Engine:
    """A submission is claimed by a delivery that is over."""

    def change(operation: Operation) -> Operation | None:
        return None if isinstance(operation, CheckLease) else operation

    return alter(engine, writes=AlteredWrites(engine.writes, change))


def move_skips_catalog(engine: Engine) -> Engine:
    """The catalog hears of new submissions only."""

    class Writes(AlteredWrites):
        async def commit(self, operations: Sequence[Operation], *, id: CommitId | None = None) -> Committed:
            is_new = any(isinstance(operation, Put) and operation.key.startswith("claim:") for operation in operations)
            kept = [operation for operation in operations if is_new or not isinstance(operation, Index)]
            return await self._writes.commit(kept, id=id)

    return alter(engine, writes=Writes(engine.writes, lambda operation: operation))


def effect_is_not_fenced(engine: Engine) -> Engine:
    """A worker that was overtaken writes all the same: neither version nor lease holds it back."""

    class Writes(AlteredWrites):
        async def commit(self, operations: Sequence[Operation], *, id: CommitId | None = None) -> Committed:
            try:
                return await self._writes.commit(operations, id=id)
            except VskillError:
                if not any(isinstance(operation, Ack) for operation in operations):
                    raise
            kept = [
                replace(o, if_version=None) if isinstance(o, Put) else o for o in operations if not isinstance(o, Ack)
            ]
            return await self._writes.commit(kept, id=id)

    return alter(engine, writes=Writes(engine.writes, lambda operation: operation))


async def process_without_claim(message: Message) -> None:
    """Takes the submission through whatever its run is and whoever works on it."""
    task = decode_message(message.body)
    assert isinstance(task, ProcessSubmission)
    found = await find_submission(task.submission_id)
    if found is None or found.submission.state is not SubmissionState.RECEIVED:
        return
    env = current_env("writes")
    claimed = advance(
        found.submission,
        SubmissionState.TIER1_SCANNING,
        trigger=Trigger.CLAIMED,
        actor=Actor.WORKER,
        now_ms=env.clock.now_ms(),
        message="Claimed.",
    )
    decided = advance(
        claimed.submission,
        SubmissionState.NEEDS_REVIEW,
        trigger=Trigger.REVIEW_NEEDED,
        actor=Actor.WORKER,
        now_ms=env.clock.now_ms(),
        message="Done.",
        claim=None,
    )
    await env.writes.commit(moving(found, claimed, decided))
