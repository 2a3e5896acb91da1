"""Workers for the submission machine: the real handler over real processes, some of which fail, die or hang."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import msgspec

from tests.machines.stage import agree
from tests.machines.submission_steps import Outcome, Stop
from vskill_platform.domain.errors import MalformedMessage
from vskill_platform.domain.ids import CommitId
from vskill_platform.domain.messages import ProcessSubmission, decode_message
from vskill_platform.domain.records import HistoryEntry, Step, advance
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.pipeline.claim import claim_submission
from vskill_platform.ports.commit import Ack, Commit, Committed, Operation, Put
from vskill_platform.ports.env import ProcessMessage, WorkerEnv
from vskill_platform.ports.queue import Message, MessageBatch
from vskill_platform.stores.submissions import Found, moving
from vskill_platform.worker.consumer import handle_submission_queue
from vskill_platform.worker_context import current_env

_history = msgspec.json.Decoder(HistoryEntry)
_APPROVED = (SubmissionState.AUTO_APPROVED, SubmissionState.VENDOR_APPROVED)


class Planned(Exception):
    """A failure that the machine asked for."""


@dataclass
class Gate:
    """Where a worker hangs until somebody opens."""

    stop: Stop
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    async def pass_through(self, commit: int, moment: str) -> None:
        """Wait here, if this is where the worker hangs."""
        if self.stop.value == (commit, moment):
            self.reached.set()
            await self.opened.wait()


class WatchedWrites:
    """The commits of one batch, and a note of each that a delivery wrote into a run that is not its own."""

    def __init__(self, writes: Commit, batch: MessageBatch, gate: Gate | None) -> None:
        self.trespasses: list[tuple[str, int]] = []
        self._writes = writes
        self._tasks = {task_of(message) for message in batch.messages}
        self._gate = gate
        self._commits = 0

    async def commit(self, operations: Sequence[Operation], *, id: CommitId | None = None) -> Committed:
        self._commits += 1
        number = self._commits
        if self._gate is not None:
            await self._gate.pass_through(number, "before")
        committed = await self._writes.commit(operations, id=id)
        self._note_runs(operations)
        if self._gate is not None:
            await self._gate.pass_through(number, "after")
        return committed

    async def find_commit(self, id: CommitId) -> Committed | None:
        return await self._writes.find_commit(id)

    async def purge(self) -> int:
        return await self._writes.purge()

    def _note_runs(self, operations: Sequence[Operation]) -> None:
        for operation in operations:
            if isinstance(operation, Put) and operation.key.startswith("hist:"):
                task = (operation.key.split(":")[1], _history.decode(operation.value).run)
                if task not in self._tasks:
                    self.trespasses.append(task)


@dataclass
class Work:
    """A batch, how the work on each of its messages goes, and where it hangs."""

    batch: MessageBatch
    outcomes: Sequence[Outcome]
    process: ProcessMessage
    gate: Gate | None = None

    async def handle(self, env: WorkerEnv) -> None:
        """Hand the batch to the consumer's handler, as the loop does."""
        writes = WatchedWrites(env.writes, self.batch, self.gate)
        await handle_submission_queue(self.batch, replace(env, writes=writes), process=self._process)
        self.batch.close()
        agree("writes of a delivery into another run", writes.trespasses, [])

    async def settle(self, env: WorkerEnv) -> None:
        """Carry out what is left to settle, as the loop does. What comes too late is lost, and should be."""
        left = [message for message in self.batch.messages if not message.is_settled]
        commits = [[message.settlement] for message in left if message.settlement is not None]
        await env.queue.exchange(self.batch.queue, commits, max_messages=0, lease_s=1)

    async def _process(self, message: Message) -> None:
        position = [held.id for held in self.batch.messages].index(message.id)
        await _act(message, self.outcomes[position % len(self.outcomes)], self.process)


def apart(batch: MessageBatch) -> list[MessageBatch]:
    """The batch in parts that hold each submission once.

    Two messages for one submission, worked on side by side, race. Which one wins is up to the engine's threads, and a
    walk that cannot be repeated cannot be shortened. The steps that overtake have that race in hand.
    """
    parts: list[dict[str, Message]] = []
    for message in batch.messages:
        submission, _ = task_of(message)
        part = next((part for part in parts if submission not in part), None)
        if part is None:
            parts.append(part := {})
        part[submission] = message
    return [MessageBatch(batch.queue, list(part.values())) for part in parts]


def again(batch: MessageBatch) -> MessageBatch:
    """The batch as it was received: a worker that knows nothing of what was decided since."""
    fresh = [replace(message, settlement=None, is_settled=False) for message in batch.messages]
    return MessageBatch(batch.queue, fresh)


async def _act(message: Message, outcome: Outcome, process: ProcessMessage) -> None:
    match outcome:
        case Outcome.SUCCEED:
            await process(message)
        case Outcome.FAIL:
            raise Planned("before anything was done")
        case Outcome.FAIL_CLAIMED:
            if await _claim(message) is not None:
                raise Planned("after the claim")
        case Outcome.FAIL_AFTERWARDS:
            await process(message)
            raise Planned("after the effect")
        case Outcome.MALFORMED:
            raise MalformedMessage("planned")
        case Outcome.APPROVE_THEN_FAIL:
            await _approve_then_fail(message)
        case Outcome.PUBLISH:
            await _publish(message)


async def _approve_then_fail(message: Message) -> None:
    """What ought to be one commit with the publication, broken off in between."""
    found = await _claim(message)
    if found is None:
        return
    if found.submission.state not in _APPROVED:
        await current_env("writes").writes.commit(moving(found, _approving(found)))
    raise Planned("between approval and publication")


async def _publish(message: Message) -> None:
    found = await _claim(message)
    if found is None:
        return
    steps = [] if found.submission.state in _APPROVED else [_approving(found)]
    before = steps[-1].submission if steps else found.submission
    env = current_env("writes")
    steps.append(
        advance(
            before,
            SubmissionState.PUBLISHED,
            trigger=Trigger.PUBLISHED,
            actor=Actor.WORKER,
            now_ms=env.clock.now_ms(),
            message="Published.",
            claim=None,
        )
    )
    await env.writes.commit([*moving(found, *steps), Ack(message.lease)])
    message.mark_settled()


def _approving(found: Found) -> Step:
    return advance(
        found.submission,
        SubmissionState.AUTO_APPROVED,
        trigger=Trigger.APPROVED,
        actor=Actor.WORKER,
        now_ms=current_env("clock").clock.now_ms(),
        message="Approved.",
    )


async def _claim(message: Message) -> Found | None:
    task = decode_message(message.body)
    assert isinstance(task, ProcessSubmission)
    return await claim_submission(message, task)


def task_of(message: Message) -> tuple[str, int]:
    """The submission and the run that a message is for."""
    task = decode_message(message.body)
    assert isinstance(task, ProcessSubmission)
    return task.submission_id, task.run
