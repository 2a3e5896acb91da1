"""US-003 of both documents and TC-065: the consumer works on each batch in that batch's env."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from tests.seed.planting import OpenEngine, deliver, meet
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.ports.commit import Ack, Retry
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.queue import Message
from vskill_platform.stores.submissions import get_submission_index
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.processing import review_everything
from vskill_platform.worker.consumer import handle_submission_queue
from vskill_platform.worker_context import get_worker_env, run_with_worker_env

BATCHES = 10
BATCH_SIZE = 3


async def test_tc_065__two_batches_side_by_side_are_processed_each_in_its_own_store(
    open_engine: OpenEngine, clock: FakeClock, tmp_path: Path
) -> None:
    first = make_env(await open_engine(), clock=clock, folder=tmp_path)
    second = make_env(await open_engine(), clock=clock, folder=tmp_path)
    batches = await deliver(first, ["csv", "doc"]), await deliver(second, ["pdf", "xls"])
    barrier = asyncio.Barrier(4)
    seen: dict[str, list[WorkerEnv | None]] = {}

    async def process(message: Message) -> None:
        before = get_worker_env()
        await meet(barrier)
        await review_everything(message)
        await meet(barrier)
        seen[message.id] = [before, get_worker_env()]

    await asyncio.gather(
        handle_submission_queue(batches[0], first, process=process),
        handle_submission_queue(batches[1], second, process=process),
    )

    for batch, env in zip(batches, (first, second), strict=True):
        for message in batch.messages:
            assert seen[message.id][0] is env
            assert seen[message.id][1] is env
        assert (await env.queue.stats(SUBMISSIONS_QUEUE))[:4] == (0, 0, 0, 0)
    assert await states(first) == {"csv": SubmissionState.NEEDS_REVIEW, "doc": SubmissionState.NEEDS_REVIEW}
    assert await states(second) == {"pdf": SubmissionState.NEEDS_REVIEW, "xls": SubmissionState.NEEDS_REVIEW}


async def states(env: WorkerEnv) -> dict[str, SubmissionState]:
    """Every submission of a store: its skill and its state."""
    index = await run_with_worker_env(env, get_submission_index)
    return {row.skill_name: row.state for row in index.rows}


async def test_0310_ac_us3_03__every_message_is_worked_on_in_the_batchs_env(env_with: partial[WorkerEnv]) -> None:
    seen: list[WorkerEnv | None] = []

    async def process(message: Message) -> None:
        seen.append(get_worker_env())

    env = env_with(process=process)
    batch = await deliver(env, ["csv", "doc", "pdf"])

    report = await handle_submission_queue(batch, env)

    assert len(seen) == 3
    assert all(found is env for found in seen)
    assert get_worker_env() is None
    assert report.counts["processed"] == 3


async def test_0310_ac_us3_03__no_env_is_left_behind__when_the_work_fails(env_with: partial[WorkerEnv]) -> None:
    seen: list[WorkerEnv | None] = []

    async def process(message: Message) -> None:
        seen.append(get_worker_env())
        if len(seen) == 1:
            raise LookupError("planted failure of the first message")

    env = env_with(process=process)
    batch = await deliver(env, ["csv", "doc"])

    await handle_submission_queue(batch, env)

    assert [type(message.settlement) for message in batch.messages] == [Retry, Ack]
    assert len(seen) == 2
    assert all(found is env for found in seen)
    assert get_worker_env() is None


async def test_0313_ac_us3_02__a_batch_runs_in_a_scope_and_the_callers_env_is_as_before(
    env_with: partial[WorkerEnv],
) -> None:
    seen: list[WorkerEnv | None] = []

    async def process(message: Message) -> None:
        seen.append(get_worker_env())

    outer, env = env_with(), env_with(process=process)
    batch = await deliver(env, ["csv"])

    async def caller() -> WorkerEnv | None:
        await handle_submission_queue(batch, env)
        return get_worker_env()

    assert await run_with_worker_env(outer, caller) is outer
    assert len(seen) == 1
    assert seen[0] is env


async def test_0313_ac_us3_02__no_env_is_left_behind__when_the_batch_is_cancelled(
    env_with: partial[WorkerEnv],
) -> None:
    began = asyncio.Barrier(2)

    async def process(message: Message) -> None:
        await meet(began)
        await asyncio.Event().wait()

    env = env_with(process=process)
    batch = await deliver(env, ["csv"])

    async def caller() -> WorkerEnv | None:
        with pytest.raises(asyncio.CancelledError):
            await handle_submission_queue(batch, env)
        return get_worker_env()

    task = asyncio.create_task(caller())
    await meet(began)
    task.cancel()

    assert await task is None


async def test_0313_ac_us3_03__ten_batches_of_three_see_only_their_own_env(env_with: partial[WorkerEnv]) -> None:
    barrier = asyncio.Barrier(BATCHES * BATCH_SIZE)
    seen: dict[str, list[WorkerEnv | None]] = {}

    async def process(message: Message) -> None:
        before = get_worker_env()
        await meet(barrier)
        seen[message.id] = [before, get_worker_env()]

    envs = [env_with(process=process) for _ in range(BATCHES)]
    batches = [
        await deliver(env, [f"{number}-{place}" for place in range(BATCH_SIZE)]) for number, env in enumerate(envs)
    ]

    await asyncio.gather(*map(handle_submission_queue, batches, envs))

    assert len(seen) == BATCHES * BATCH_SIZE
    for batch, env in zip(batches, envs, strict=True):
        for message in batch.messages:
            assert seen[message.id][0] is env
            assert seen[message.id][1] is env
    assert get_worker_env() is None
