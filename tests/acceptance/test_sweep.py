"""The sweep: it moves what is lost and nothing else, once, whoever else is at work."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.acceptance.running import QUEUE, inside, running_loop
from vskill_platform.domain.ids import MessageId, submission_key
from vskill_platform.domain.messages import ProcessSubmission, encode_message
from vskill_platform.domain.records import Submission
from vskill_platform.domain.recovery import MAX_RECOVERIES
from vskill_platform.domain.submission import SubmissionState, Trigger
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.commit import CheckStatus, Committed, Operation, Put, Send
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.queue import Message
from vskill_platform.stores.cron_runs import SWEEP_POSITION_KEY
from vskill_platform.stores.pause import pause_queue
from vskill_platform.stores.submissions import get_history, get_submission
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.probe import PlainProbe
from vskill_platform.testing.submissions import putting_submission, submission_at, submit
from vskill_platform.testing.waits import eventually
from vskill_platform.worker.recovery import SweepReport, sweep_stuck_submissions

S = SubmissionState
FIVE_MINUTES_S = 300


async def sweep(env: WorkerEnv) -> SweepReport:
    return await inside(env, sweep_stuck_submissions)


async def read(env: WorkerEnv, submission: Submission) -> Submission:
    return (await inside(env, lambda: get_submission(submission.id))).submission


async def lose_message(env: WorkerEnv, submission: Submission) -> None:
    assert submission.message_id is not None
    assert await env.queue.drop([MessageId(submission.message_id)], reason="lost on purpose")


async def store_lost(env: WorkerEnv, state: SubmissionState, **fields: object) -> Submission:
    """A submission in a state, untouched for an hour, whose message is gone."""
    lost = submission_at(state, updated_ms=env.clock.now_ms() - 3_600_000, message_id="msg_gone", **fields)
    await env.writes.commit(putting_submission(lost))
    return lost


@pytest.mark.parametrize(
    ("state", "becomes"),
    [
        (S.RECEIVED, S.RECEIVED),
        (S.TIER1_SCANNING, S.RECEIVED),
        (S.TIER2_SCANNING, S.RECEIVED),
        (S.AUTO_APPROVED, S.AUTO_APPROVED),
        (S.VENDOR_APPROVED, S.VENDOR_APPROVED),
    ],
)
async def test_sweep_sends_again__when_the_message_is_gone(
    env: WorkerEnv, state: SubmissionState, becomes: SubmissionState
) -> None:
    lost = await store_lost(env, state)
    report = await sweep(env)
    assert report == SweepReport(examined=1, requeued=1)
    moved = await read(env, lost)
    assert (moved.state, moved.recoveries, moved.claim) == (becomes, 1, None)
    [message] = await env.queue.receive(QUEUE, max_messages=10, lease_s=60)
    assert message.id == moved.message_id
    assert message.body == encode_message(ProcessSubmission(submission_id=lost.id, run=1))
    [entry] = await inside(env, lambda: get_history(lost.id))
    assert (entry.source, entry.state, entry.trigger) == (state, becomes, Trigger.RECOVERED)


@pytest.mark.parametrize("state", [S.PUBLISHED, S.REJECTED, S.NEEDS_REVIEW, S.BLOCKED, S.DEQUEUED, S.TIER1_FAILED])
async def test_sweep_does_not_look_at__a_state_that_cannot_be_stuck(env: WorkerEnv, state: SubmissionState) -> None:
    await store_lost(env, state)
    assert await sweep(env) == SweepReport()


async def test_sweep_rejects__when_it_was_sent_again_three_times(env: WorkerEnv, clock: FakeClock) -> None:
    submission = await inside(env, lambda: submit("demo"))
    for _ in range(MAX_RECOVERIES):
        await lose_message(env, await read(env, submission))
        clock.shift(FIVE_MINUTES_S)
        assert (await sweep(env)).requeued == 1
    await lose_message(env, await read(env, submission))
    clock.shift(FIVE_MINUTES_S)
    assert (await sweep(env)).rejected == 1
    rejected = await read(env, submission)
    assert (rejected.state, rejected.reason) == (S.REJECTED, "recovery_exhausted")


async def test_sweep_rejects__when_the_message_is_a_dead_letter(env: WorkerEnv, clock: FakeClock) -> None:
    submission = await inside(env, lambda: submit("demo"))
    [message] = await env.queue.receive(QUEUE, max_messages=1, lease_s=60)
    message.bury(error="hopeless")
    assert message.settlement is not None
    await env.writes.commit([message.settlement])
    clock.shift(FIVE_MINUTES_S)
    assert (await sweep(env)).rejected == 1
    rejected = await read(env, submission)
    assert (rejected.state, rejected.reason) == (S.REJECTED, "delivery_exhausted")
    assert (await env.queue.stats(QUEUE)).dead == 1


@pytest.mark.parametrize("held", ["waiting", "delayed", "leased"])
async def test_sweep_leaves_it__while_its_message_is_there(env: WorkerEnv, clock: FakeClock, held: str) -> None:
    submission = await inside(env, lambda: submit("demo"))
    if held != "waiting":
        [message] = await env.queue.receive(QUEUE, max_messages=1, lease_s=3600)
        message.retry(delay_s=3600)
        if held == "delayed" and message.settlement is not None:
            await env.writes.commit([message.settlement])
    clock.shift(FIVE_MINUTES_S)
    assert await sweep(env) == SweepReport(examined=1, left=1)
    assert (await read(env, submission)).state is S.RECEIVED


@pytest.mark.no_cover
@pytest.mark.parametrize("total", [10_000, pytest.param(100_000, marks=pytest.mark.full)])
async def test_sweep_moves_nothing__behind_a_long_queue_that_is_paused(
    env: WorkerEnv, clock: FakeClock, total: int
) -> None:
    chunk = 2500
    await inside(env, lambda: pause_queue(reason="maintenance", seconds=86_400))
    [record, _] = putting_submission(
        submission_at(S.RECEIVED, updated_ms=clock.now_ms(), identity="sub_NUMBER", message_id="msg_NUMBER")
    )
    assert isinstance(record, Put)
    for start in range(0, total, chunk):
        operations: list[Operation] = []
        for number in range(start, start + chunk):
            value = record.value.replace(b"NUMBER", b"%d" % number)
            operations.append(Put(f"sub:sub_{number}", value, due_ms=record.due_ms))
            operations.append(Send(QUEUE, MessageId(f"msg_{number}"), b"{}"))
        await env.writes.commit(operations)
    clock.shift(3600)
    assert await sweep(env) == SweepReport(examined=total, left=total)
    assert (await env.queue.stats(QUEUE)).waiting == total


async def test_sweep_leaves_it__while_a_handler_runs_for_twenty_minutes_with_an_extended_lease(
    engine: Engine, clock: FakeClock, tmp_path: Path
) -> None:
    started, gate = asyncio.Event(), asyncio.Event()

    async def process(message: Message) -> None:
        started.set()
        await gate.wait()

    env = make_env(engine, clock=clock, folder=tmp_path, process=process, message_time_limit_s=3600)
    submission = await inside(env, lambda: submit("demo"))
    async with running_loop(env):
        await started.wait()
        for _ in range(60):
            await clock.advance(20)
        assert await sweep(env) == SweepReport(examined=1, left=1)
        gate.set()
    assert submission.message_id is not None
    assert await env.queue.find([MessageId(submission.message_id)]) == {}


async def test_worker_that_died_is_recovered__by_the_next_process(tmp_path: Path, clock: FakeClock) -> None:
    """The lease ends when the next process opens the file; the attempt counts, and the message comes as a suspect."""
    path = tmp_path / "registry.db"
    first = await open_sqlite(path, clock=clock)
    env = make_env(first, clock=clock, folder=tmp_path)
    submission = await inside(env, lambda: submit("demo"))
    await env.queue.receive(QUEUE, max_messages=1, lease_s=86_400)
    await first.close()
    second = await open_sqlite(path, clock=clock)
    clock.wait_for_threads_of(second)
    env = make_env(second, clock=clock, folder=tmp_path)
    async with running_loop(env):

        async def is_done() -> bool:
            return (await read(env, submission)).state is S.NEEDS_REVIEW

        await eventually(is_done, what="the submission worked on")
    [received, claimed, decided] = await inside(env, lambda: get_history(submission.id))
    assert (received.trigger, claimed.message, decided.trigger) == (
        Trigger.SUBMITTED,
        "Claimed, attempt 2.",
        Trigger.REVIEW_NEEDED,
    )
    await second.close()


async def test_two_sweeps_at_once_move_each_item_once(env: WorkerEnv) -> None:
    lost = [await store_lost(env, S.RECEIVED, identity=f"sub_{number}") for number in range(200)]
    reports = await asyncio.gather(sweep(env), sweep(env))
    assert sum(report.requeued for report in reports) == len(lost)
    assert sum(report.failed for report in reports) == 0
    assert (await env.queue.stats(QUEUE)).waiting == len(lost)
    assert [(await read(env, item)).recoveries for item in lost] == [1] * len(lost)


async def test_time_only_rescue_would_move_all__the_planted_fault_is_caught(env: WorkerEnv, clock: FakeClock) -> None:
    """With the queue's answer hidden the commit's own check still holds; without that too, all are sent again."""

    class Forgetful:
        def __getattr__(self, name: str) -> object:
            return getattr(env.queue, name)

        async def find(self, ids: object) -> dict[MessageId, object]:
            return {}

    class Careless:
        def __getattr__(self, name: str) -> object:
            return getattr(env.writes, name)

        async def commit(self, operations: list[Operation]) -> Committed:
            return await env.writes.commit([op for op in operations if not isinstance(op, CheckStatus)])

    for number in range(5):
        await inside(env, lambda number=number: submit(f"demo-{number}"))
    clock.shift(FIVE_MINUTES_S)
    assert (await sweep(env)).requeued == 0
    forgetful = replace(env, queue=Forgetful())  # type: ignore[arg-type]
    assert await sweep(forgetful) == SweepReport(examined=5, conflicts=5)
    assert (await sweep(replace(forgetful, writes=Careless()))).requeued == 5  # type: ignore[arg-type]


async def test_sweep_goes_on_from_its_cursor__when_its_time_box_is_over(
    engine: Engine, clock: FakeClock, tmp_path: Path
) -> None:
    class Ticking(FakeClock):
        """Every look at this clock takes a second."""

        def now_ms(self) -> int:
            self.shift(1)
            return super().now_ms()

    env = make_env(engine, clock=clock, folder=tmp_path)
    for number in range(1200):
        lost = submission_at(S.RECEIVED, updated_ms=clock.now_ms() - 3_600_000, identity=f"sub_{number:04}")
        await env.writes.commit(putting_submission(lost)[:1])
    hurried = make_env(engine, clock=Ticking(clock.now_ms()), folder=tmp_path, sweep_time_box_s=2)
    reports = [await sweep(hurried) for _ in range(3)]
    assert [(report.requeued, report.is_complete) for report in reports] == [(500, False), (500, False), (200, True)]
    assert await sweep(env) == SweepReport()
    assert (await env.queue.stats(QUEUE)).waiting == 1200


async def test_sweep_counts_a_malformed_record__and_moves_the_others(env: WorkerEnv, clock: FakeClock) -> None:
    due_ms = clock.now_ms() - 1000
    await env.writes.commit(
        [
            Put("sub:junk", b"not json", due_ms=due_ms),
            Put("sub:types", b'{"id": 7}', due_ms=due_ms),
            Put("sub:state", b'{"id":"x","state":"LOST","updatedAt":"2026-01-01T00:00:00Z"}', due_ms=due_ms),
        ]
    )
    await store_lost(env, S.RECEIVED)
    assert await sweep(env) == SweepReport(examined=1, requeued=1, malformed=3)


@pytest.mark.parametrize("position", [b"junk", b'{"horizonMs": 1893456000000, "cursor": "of another engine"}'])
async def test_sweep_survives_a_malformed_position__and_begins_afresh(env: WorkerEnv, position: bytes) -> None:
    await env.writes.commit([Put(SWEEP_POSITION_KEY, position)])
    await store_lost(env, S.RECEIVED)
    assert (await sweep(env)).requeued == 1


async def test_sweep_does_the_same__on_a_plain_kv(env: WorkerEnv, engine: Engine) -> None:
    lost = await store_lost(env, S.TIER1_SCANNING)
    plain = replace(env, kv=PlainProbe(engine))
    assert await sweep(plain) == SweepReport(examined=1, requeued=1)
    assert (await read(env, lost)).state is S.RECEIVED


async def test_key_deleted_between_listing_and_reading_is_no_fault(env: WorkerEnv, engine: Engine) -> None:
    """The record goes while the plain path is between its listing and its reads: it counts as missing, nothing else."""
    keep, gone = await store_lost(env, S.RECEIVED), await store_lost(env, S.RECEIVED)

    class Vanishing(PlainProbe):
        async def get(self, key: str):  # type: ignore[no-untyped-def]
            return None if key == submission_key(gone.id) else await super().get(key)

    assert await sweep(replace(env, kv=Vanishing(engine))) == SweepReport(examined=1, requeued=1)
    assert (await read(env, keep)).recoveries == 1


async def test_item_moved_on_between_listing_and_moving_is_left_alone(env: WorkerEnv) -> None:
    """A worker claims it after the sweep has read it: the compare-and-set loses and counts a conflict."""
    lost = await store_lost(env, S.RECEIVED)

    class Overtaking:
        def __getattr__(self, name: str) -> object:
            return getattr(env.queue, name)

        async def find(self, ids: object) -> dict[MessageId, object]:
            moved = submission_at(S.PUBLISHED, updated_ms=env.clock.now_ms(), identity=lost.id)
            await env.writes.commit(putting_submission(moved))
            return {}

    assert await sweep(replace(env, queue=Overtaking())) == SweepReport(examined=1, conflicts=1)  # type: ignore[arg-type]
    assert (await read(env, lost)).state is S.PUBLISHED
    assert (await env.queue.stats(QUEUE))[:4] == (0, 0, 0, 0)


async def test_sweep_counts_a_record_that_is_half_readable__on_a_plain_kv(env: WorkerEnv, engine: Engine) -> None:
    """Enough of it can be read to see that it is stuck, not enough to move it."""
    half = b'{"id":"half","state":"RECEIVED","updatedAt":"2020-01-01T00:00:00Z"}'
    await env.writes.commit([Put("sub:half", half)])
    await store_lost(env, S.RECEIVED)
    assert await sweep(replace(env, kv=PlainProbe(engine))) == SweepReport(examined=1, requeued=1, malformed=1)


async def test_sweep_does_not_overrule_a_person__who_requeues_the_dead_letter_meanwhile(
    env: WorkerEnv, clock: FakeClock
) -> None:
    submission = await inside(env, lambda: submit("demo"))
    [message] = await env.queue.receive(QUEUE, max_messages=1, lease_s=60)
    message.bury(error="hopeless")
    assert message.settlement is not None
    await env.writes.commit([message.settlement])
    clock.shift(FIVE_MINUTES_S)

    class Overtaken:
        def __getattr__(self, name: str) -> object:
            return getattr(env.queue, name)

        async def find(self, ids: list[MessageId]) -> object:
            found = await env.queue.find(ids)
            await env.queue.requeue(ids)
            return found

    assert (await sweep(replace(env, queue=Overtaken()))).conflicts == 1  # type: ignore[arg-type]
    assert (await read(env, submission)).state is S.RECEIVED
