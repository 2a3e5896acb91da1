"""Stands between a worker and its commits: lets it hang at one of them, and notes what no delivery may do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from tests.machines.submission_steps import Stop
from vskill_platform.domain.errors import LeaseLost
from vskill_platform.domain.ids import CommitId, MessageId, submission_key
from vskill_platform.domain.messages import ProcessSubmission, decode_message
from vskill_platform.domain.records import HistoryEntry, Submission
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.submission import DELIVERABLE_STATES, Trigger
from vskill_platform.ports.commit import Ack, CheckLease, Commit, Committed, Operation, Put, Release, Settlement
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.queue import Message, MessageBatch

_history = msgspec.json.Decoder(HistoryEntry)
_submissions = msgspec.json.Decoder(Submission)


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
    """The commits of one batch. `trespasses` says which of them wrote what their delivery had no right to.

    It looks through an env of its own, so that a fault in the worker's env cannot blind it.
    """

    def __init__(self, writes: Commit, batch: MessageBatch, watch: WorkerEnv, gate: Gate | None) -> None:
        self.trespasses: list[str] = []
        self._writes = writes
        self._messages = {message.id: message for message in batch.messages}
        self._tasks = {task_of(message) for message in batch.messages}
        self._watch = watch
        self._gate = gate
        self._commits = 0

    async def commit(self, operations: Sequence[Operation], *, id: CommitId | None = None) -> Committed:
        self._commits += 1
        number = self._commits
        if self._gate is not None:
            await self._gate.pass_through(number, "before")
        trespasses = await self._find_trespasses(operations)
        committed = await self._writes.commit(operations, id=id)
        self.trespasses += trespasses
        if self._gate is not None:
            await self._gate.pass_through(number, "after")
        return committed

    async def find_commit(self, id: CommitId) -> Committed | None:
        return await self._writes.find_commit(id)

    async def purge(self) -> int:
        return await self._writes.purge()

    async def _find_trespasses(self, operations: Sequence[Operation]) -> list[str]:
        """What would be wrong with the commit if it went through."""
        puts = [operation for operation in operations if isinstance(operation, Put)]
        found: list[str] = []
        for put in puts:
            if put.key.startswith("hist:"):
                entry, submission = _history.decode(put.value), put.key.split(":")[1]
                if (submission, entry.run) not in self._tasks:
                    found.append(f"a write to run {entry.run} of {submission}")
                if entry.trigger is Trigger.CLAIMED:
                    found += await self._find_claim_trespasses(submission, puts)
        return found

    async def _find_claim_trespasses(self, submission: str, puts: Sequence[Put]) -> list[str]:
        """A claim needs a live lease, and must not take from a delivery that has one."""
        [record] = [_submissions.decode(put.value) for put in puts if put.key == submission_key(submission)]
        message = self._messages.get(MessageId(record.claim.message_id)) if record.claim else None
        if message is None:
            return [f"a claim on {submission} by nobody"]
        found: list[str] = []
        if not await self._is_live(message):
            found.append(f"a claim on {submission} with a stale lease")
        holder = await self._find_holder(submission)
        if holder not in (None, message.id):
            found.append(f"a claim on {submission} that {holder} works on")
        return found

    async def _is_live(self, message: Message) -> bool:
        try:
            await self._watch.writes.commit([CheckLease(message.lease)])
        except LeaseLost:
            return False
        return True

    async def _find_holder(self, submission: str) -> MessageId | None:
        found = await find_record(self._watch, submission)
        return None if found is None else await find_holder(self._watch, found)


async def expect_decision(message: Message, watch: WorkerEnv) -> type[Settlement] | None:
    """What a sound worker must decide about a message that it need not, or must not, work on; None if it may."""
    identity, run = task_of(message)
    submission = await find_record(watch, identity)
    if submission is None or submission.run != run or submission.state not in DELIVERABLE_STATES:
        return Ack
    return Release if await find_holder(watch, submission) not in (None, message.id) else None


async def find_record(watch: WorkerEnv, identity: str) -> Submission | None:
    """The submission as it is stored."""
    entry = await watch.kv.get(submission_key(identity))
    return None if entry is None else _submissions.decode(entry.value)


async def find_holder(watch: WorkerEnv, submission: Submission) -> MessageId | None:
    """The message that has the submission claimed and is being worked on."""
    if submission.claim is None:
        return None
    identity = MessageId(submission.claim.message_id)
    info = (await watch.queue.find([identity])).get(identity)
    return identity if info is not None and info.status is MessageStatus.LEASED else None


def task_of(message: Message) -> tuple[str, int]:
    """The submission and the run that a message is for."""
    task = decode_message(message.body)
    assert isinstance(task, ProcessSubmission)
    return task.submission_id, task.run
