"""Deliveries: however often and in whatever order a message comes, a run has one effect."""

from __future__ import annotations

import itertools
from dataclasses import replace

import msgspec
import pytest

from tests.acceptance.running import QUEUE, inside
from vskill_platform.domain.errors import Conflict
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import ProcessSubmission, encode_message
from vskill_platform.domain.records import Claim, advance
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.pipeline.claim import claim_submission
from vskill_platform.ports.commit import Lease, Release, Send
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.queue import Message, MessageBatch
from vskill_platform.stores.submissions import Found, get_history, get_submission, moving
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.submissions import submit
from vskill_platform.worker.consumer import handle_submission_queue

S = SubmissionState


async def deliver(env: WorkerEnv, *messages: Message) -> None:
    """Hand the messages over one after the other, each as a delivery of its own."""
    for message in messages:
        await handle_submission_queue(MessageBatch(QUEUE, [message]), env)


async def start_new_run(env: WorkerEnv, identity: str) -> MessageId:
    """What a resubmission does: the same submission, one run more, with a message of its own."""
    found = await inside(env, lambda: get_submission(identity))
    message = MessageId(f"msg_run_{found.submission.run + 1}")
    step = advance(
        found.submission,
        S.RECEIVED,
        trigger=Trigger.RESUBMITTED,
        actor=Actor.SUBMITTER,
        now_ms=env.clock.now_ms(),
        message="Submitted again.",
        run=found.submission.run + 1,
        message_id=message,
    )
    body = encode_message(ProcessSubmission(submission_id=identity, run=step.submission.run))
    await env.writes.commit([*moving(found, step), Send(QUEUE, message, body)])
    return message


def copies(message: Message, count: int) -> list[Message]:
    """The same delivery again and again, as a network that repeats itself would bring it."""
    return [replace(message, settlement=None, is_settled=False) for _ in range(count)]


async def effects(env: WorkerEnv, identity: str) -> list[int]:
    """The runs in which a decision was taken, one entry a decision."""
    history = await inside(env, lambda: get_history(identity))
    return [entry.run for entry in history if entry.trigger is Trigger.REVIEW_NEEDED]


async def test_message_delivered_five_times_has_one_effect(env: WorkerEnv) -> None:
    submission = await inside(env, lambda: submit("demo"))
    [message] = await env.queue.receive(QUEUE, max_messages=1, lease_s=60)
    await deliver(env, *copies(message, 5))
    assert await effects(env, submission.id) == [1]
    assert (await env.queue.stats(QUEUE))[:4] == (0, 0, 0, 0)


@pytest.mark.parametrize("order", list(itertools.permutations(range(5))))
async def test_late_message_of_an_older_run_changes_nothing__in_any_order(
    env: WorkerEnv, order: tuple[int, ...]
) -> None:
    submission = await inside(env, lambda: submit("demo"))
    [old] = await env.queue.receive(QUEUE, max_messages=1, lease_s=600)
    await deliver(env, *copies(old, 1))
    await start_new_run(env, submission.id)
    [new] = await env.queue.receive(QUEUE, max_messages=1, lease_s=600)
    arriving = [*copies(new, 4), *copies(old, 1)]
    await deliver(env, *(arriving[position] for position in order))
    assert await effects(env, submission.id) == [1, 2]


async def test_events_tell_of_each_effect_once__under_redelivery(env: WorkerEnv) -> None:
    submission = await inside(env, lambda: submit("demo"))
    [message] = await env.queue.receive(QUEUE, max_messages=1, lease_s=60)
    await deliver(env, *copies(message, 5))
    page = await env.events.read(0)
    told = [msgspec.json.decode(event.data)["state"] for event in page.events if event.subject == submission.id]
    assert told == ["RECEIVED", "TIER1_SCANNING", "NEEDS_REVIEW"]


@pytest.mark.parametrize("state", [S.PUBLISHED, S.NEEDS_REVIEW, S.REJECTED, S.BLOCKED, S.DEQUEUED, S.EXPANDED])
async def test_delivery_never_moves__a_state_that_is_the_end_of_its_run(env: WorkerEnv, state: SubmissionState) -> None:
    submission = await inside(env, lambda: submit("demo"))
    found = await inside(env, lambda: get_submission(submission.id))
    ended = msgspec.structs.replace(found.submission, state=state)
    entry = await env.kv.get(f"sub:{submission.id}")
    assert entry is not None
    [put, *_] = moving(Found(ended, entry.value, entry.version), _unmoved(ended))
    await env.writes.commit([put])
    [message] = await env.queue.receive(QUEUE, max_messages=1, lease_s=60)
    await deliver(env, message)
    assert (await inside(env, lambda: get_submission(submission.id))).submission.state is state
    assert await effects(env, submission.id) == []


def _unmoved(submission):  # type: ignore[no-untyped-def]
    from vskill_platform.domain.records import HistoryEntry, Step

    entry = HistoryEntry(
        number=99,
        run=1,
        source=submission.state,
        state=submission.state,
        trigger=Trigger.PUBLISHED,
        actor=Actor.SYSTEM,
        timestamp=submission.updated_at,
        message="",
    )
    return Step(submission, entry)


async def claim_by_another(env: WorkerEnv, identity: str, other: MessageId) -> None:
    """Give the submission to another message, as if that one had claimed it."""
    found = await inside(env, lambda: get_submission(identity))
    step = advance(
        found.submission,
        S.TIER1_SCANNING,
        trigger=Trigger.CLAIMED,
        actor=Actor.WORKER,
        now_ms=env.clock.now_ms(),
        message="Claimed by another.",
        claim=Claim(message_id=other, attempt=1),
    )
    await env.writes.commit(moving(found, step))


async def test_delivery_is_released_with_a_delay__while_another_is_alive(env: WorkerEnv) -> None:
    submission = await inside(env, lambda: submit("demo"))
    await env.writes.commit([Send(QUEUE, MessageId("other"), b"{}", priority=9)])
    [other, message] = await env.queue.receive(QUEUE, max_messages=2, lease_s=60)
    await claim_by_another(env, submission.id, other.id)
    await deliver(env, message)
    assert isinstance(message.settlement, Release)
    assert message.settlement.delay_s == 30
    assert await effects(env, submission.id) == []


async def test_delivery_takes_over__from_a_claim_whose_lease_has_lapsed(env: WorkerEnv, clock: FakeClock) -> None:
    submission = await inside(env, lambda: submit("demo"))
    await env.writes.commit([Send(QUEUE, MessageId("other"), b"{}", priority=9)])
    [other] = await env.queue.receive(QUEUE, max_messages=1, lease_s=60)
    await claim_by_another(env, submission.id, other.id)
    clock.shift(61)
    messages = await env.queue.receive(QUEUE, max_messages=1, lease_s=60)
    messages += await env.queue.receive(QUEUE, max_messages=1, lease_s=1)
    [message] = [found for found in messages if found.id == submission.message_id]
    await env.queue.extend([found.lease for found in messages if found.id == "other"], lease_s=0)
    await deliver(env, message)
    assert await effects(env, submission.id) == [1]


async def test_overtaken_delivery_cannot_write__after_another_has_claimed(env: WorkerEnv) -> None:
    submission = await inside(env, lambda: submit("demo"))
    [message] = await env.queue.receive(QUEUE, max_messages=1, lease_s=60)
    task = ProcessSubmission(submission_id=submission.id, run=1)
    first = await inside(env, lambda: claim_submission(message, task))
    assert first is not None
    second = await inside(env, lambda: claim_submission(message, task))
    assert second is not None
    step = advance(
        first.submission,
        S.NEEDS_REVIEW,
        trigger=Trigger.REVIEW_NEEDED,
        actor=Actor.WORKER,
        now_ms=env.clock.now_ms(),
        message="Late.",
    )
    with pytest.raises(Conflict):
        await env.writes.commit(moving(first, step))


async def test_message_for_a_submission_that_is_gone_is_acked(env: WorkerEnv) -> None:
    body = encode_message(ProcessSubmission(submission_id="sub_nowhere", run=1))
    await env.writes.commit([Send(QUEUE, MessageId("m"), body)])
    [message] = await env.queue.receive(QUEUE, max_messages=1, lease_s=60)
    await deliver(env, message)
    assert message.settlement is not None
    await env.writes.commit([message.settlement])
    assert (await env.queue.stats(QUEUE))[:4] == (0, 0, 0, 0)


async def test_claim_gives_way__to_a_record_that_keeps_changing(env: WorkerEnv) -> None:
    """Five lost compare-and-sets in a row: the delivery is released and comes again, and no attempt is burnt."""
    submission = await inside(env, lambda: submit("demo"))

    class Refusing:
        def __getattr__(self, name: str) -> object:
            return getattr(env.writes, name)

        async def commit(self, operations: object, **named: object) -> object:
            raise Conflict("planted")

    [message] = await env.queue.receive(QUEUE, max_messages=1, lease_s=60)
    await deliver(replace(env, writes=Refusing()), message)  # type: ignore[arg-type]
    assert message.settlement == Release(Lease(message.id, message.lease.token), 30)
    assert submission.message_id == message.id


async def test_attempt_whose_lease_has_lapsed_cannot_take_the_claim__from_the_one_that_lives(
    env: WorkerEnv, clock: FakeClock
) -> None:
    submission = await inside(env, lambda: submit("demo"))
    [old] = await env.queue.receive(QUEUE, max_messages=1, lease_s=60)
    clock.shift(61)
    [new] = await env.queue.receive(QUEUE, max_messages=1, lease_s=60)
    task = ProcessSubmission(submission_id=submission.id, run=1)
    assert await inside(env, lambda: claim_submission(new, task)) is not None
    await deliver(env, old)
    assert old.is_settled
    found = await inside(env, lambda: get_submission(submission.id))
    assert found.submission.claim == Claim(message_id=new.id, attempt=2)


async def test_claim_carries_the_version_it_wrote(env: WorkerEnv) -> None:
    submission = await inside(env, lambda: submit("demo"))
    [message] = await env.queue.receive(QUEUE, max_messages=1, lease_s=60)
    task = ProcessSubmission(submission_id=submission.id, run=1)
    claimed = await inside(env, lambda: claim_submission(message, task))
    entry = await env.kv.get(f"sub:{submission.id}")
    assert claimed is not None
    assert entry is not None
    assert (claimed.version, claimed.value) == (entry.version, entry.value)
