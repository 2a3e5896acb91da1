"""Workers for the submission machine: the real handler over real processes, some of which fail, die or hang."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tests.machines.stage import agree
from tests.machines.submission_steps import Outcome
from tests.machines.submission_watch import Gate, WatchedWrites, expect_decision, task_of
from vskill_platform.domain.errors import MalformedMessage
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import ProcessSubmission, decode_message
from vskill_platform.domain.records import Step, advance
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.pipeline.claim import claim_submission
from vskill_platform.ports.commit import Ack, Settlement
from vskill_platform.ports.env import ProcessMessage, WorkerEnv
from vskill_platform.ports.queue import Message, MessageBatch
from vskill_platform.stores.pause import PAUSE_KEY
from vskill_platform.stores.submissions import Found, moving
from vskill_platform.worker.consumer import handle_submission_queue
from vskill_platform.worker_context import current_env

_APPROVED = (SubmissionState.AUTO_APPROVED, SubmissionState.VENDOR_APPROVED)


class Planned(Exception):
    """A failure that the machine asked for."""


@dataclass
class Work:
    """A batch, how the work on each of its messages goes, and where it hangs."""

    batch: MessageBatch
    outcomes: Sequence[Outcome]
    process: ProcessMessage
    gate: Gate | None = None

    async def handle(self, env: WorkerEnv, *, watch: WorkerEnv) -> None:
        """Hand the batch to the consumer's handler, as the loop does."""
        writes = WatchedWrites(env.writes, self.batch, watch, self.gate)
        expected = await self._expect_decisions(watch)
        await handle_submission_queue(self.batch, replace(env, writes=writes), process=self._process)
        self.batch.close()
        decided = {message.id: type(message.settlement) for message in self.batch.messages if message.id in expected}
        agree("decisions about what is stale or taken", decided, expected)
        agree("what a delivery had no right to", writes.trespasses, [])

    async def settle(self, env: WorkerEnv) -> None:
        """Carry out what is left to settle, as the loop does. What comes too late is lost, and should be."""
        left = [message for message in self.batch.messages if not message.is_settled]
        commits = [[message.settlement] for message in left if message.settlement is not None]
        await env.queue.exchange(self.batch.queue, commits, max_messages=0, lease_s=1)

    async def _expect_decisions(self, watch: WorkerEnv) -> dict[MessageId, type[Settlement]]:
        """For messages that would be worked on soundly and at once: what must be decided without any work."""
        if self.gate is not None or await watch.kv.get(PAUSE_KEY) is not None:
            return {}
        sound = [m for m in self.batch.messages if self._outcome_of(m) in (Outcome.SUCCEED, Outcome.PUBLISH)]
        expected = {message.id: await expect_decision(message, watch) for message in sound}
        return {id: decision for id, decision in expected.items() if decision is not None}

    async def _process(self, message: Message) -> None:
        await _act(message, self._outcome_of(message), self.process)

    def _outcome_of(self, message: Message) -> Outcome:
        position = [held.id for held in self.batch.messages].index(message.id)
        return self.outcomes[position % len(self.outcomes)]


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
