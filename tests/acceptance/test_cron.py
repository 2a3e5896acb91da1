"""The cron: one holder at a time, every job on its own, and a record of each run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import msgspec
import pytest

from tests.acceptance.running import inside
from vskill_platform.domain.errors import StoreUnavailable
from vskill_platform.ports.commit import Emit, Put
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.cron_runs import CronRun, get_cron_run
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.waits import advance_until, eventually
from vskill_platform.worker.cron import Cron, CronJob, purge_expired, run_job, standard_jobs
from vskill_platform.worker_context import get_worker_env


class Counting:
    """A job that counts its runs."""

    def __init__(self) -> None:
        self.runs = 0

    async def __call__(self) -> dict[str, int]:
        self.runs += 1
        return {"runs": self.runs}


@asynccontextmanager
async def running(*crons: Cron) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(cron.run()) for cron in crons]
    try:
        yield
    finally:
        for cron in crons:
            cron.stop()
        await asyncio.gather(*tasks)


async def last_run(env: WorkerEnv, job: str) -> CronRun:
    run = await inside(env, lambda: get_cron_run(job))
    assert run is not None
    return run


async def test_job_runs_at_its_interval__and_is_recorded(env: WorkerEnv, clock: FakeClock) -> None:
    work = Counting()
    async with running(Cron(env, jobs=[CronJob("count", 60, work)])):
        await eventually(lambda: work.runs == 1, what="the first run")
        await clock.advance(55)
        assert work.runs == 1
        await advance_until(clock, lambda: work.runs == 2, step_s=5, what="the second run")
    run = await last_run(env, "count")
    assert (run.error, msgspec.json.decode(run.result)) == (None, {"runs": 2})
    assert run.finished_ms is not None


async def test_job_that_fails_keeps_no_other_from_running__and_says_so(env: WorkerEnv) -> None:
    async def fail() -> None:
        raise RuntimeError("broken on purpose")

    work = Counting()
    async with running(Cron(env, jobs=[CronJob("broken", 60, fail), CronJob("count", 60, work)])):
        await eventually(lambda: work.runs == 1, what="the job after the broken one")
    assert (await last_run(env, "broken")).error == "RuntimeError: broken on purpose"


async def test_jobs_run_in_one_process_only__of_two_that_want_to(env: WorkerEnv, clock: FakeClock) -> None:
    first, second = Counting(), Counting()
    crons = [Cron(env, jobs=[CronJob("count", 60, work)]) for work in (first, second)]
    async with running(*crons):
        await eventually(lambda: first.runs + second.runs == 1, what="one run")
        await advance_until(clock, lambda: first.runs + second.runs == 5, step_s=5, what="five runs")
        assert sorted([crons[0].is_holder, crons[1].is_holder]) == [False, True]
    assert sorted([first.runs, second.runs]) == [0, 5]


async def test_next_process_takes_over__when_the_holder_died(env: WorkerEnv, clock: FakeClock) -> None:
    first, second = Counting(), Counting()
    dying = asyncio.create_task(Cron(env, jobs=[CronJob("count", 10, first)]).run())
    await eventually(lambda: first.runs == 1, what="the first holder at work")
    dying.cancel()
    await asyncio.gather(dying, return_exceptions=True)
    async with running(Cron(env, jobs=[CronJob("count", 10, second)])):
        await clock.advance(20)
        assert second.runs == 0
        await advance_until(clock, lambda: second.runs >= 1, step_s=5, what="the next holder at work")


async def test_holder_that_stops_gives_the_lease_up__the_next_need_not_wait(env: WorkerEnv, clock: FakeClock) -> None:
    first, second = Counting(), Counting()
    async with running(Cron(env, jobs=[CronJob("a", 60, first)])):
        await eventually(lambda: first.runs == 1, what="the first holder at work")
    async with running(Cron(env, jobs=[CronJob("b", 60, second)])):
        await eventually(lambda: second.runs == 1, what="the next holder at work")


async def test_lease_is_kept__while_a_job_takes_longer_than_it(env: WorkerEnv, clock: FakeClock) -> None:
    started, gate = asyncio.Event(), asyncio.Event()

    async def long() -> None:
        started.set()
        await gate.wait()

    other = Counting()
    async with running(Cron(env, jobs=[CronJob("long", 60, long)]), Cron(env, jobs=[CronJob("other", 60, other)])):
        await started.wait()
        for _ in range(12):
            await clock.advance(10)
        assert other.runs == 0
        gate.set()


async def test_cron_survives_a_store_in_trouble(env: WorkerEnv, clock: FakeClock) -> None:
    class Troubled:
        is_down = True

        def __getattr__(self, name: str) -> object:
            if self.is_down:
                raise StoreUnavailable("planted")
            return getattr(env.writes, name)

    troubled, work = Troubled(), Counting()
    async with running(Cron(replace(env, writes=troubled), jobs=[CronJob("count", 60, work)])):  # type: ignore[arg-type]
        await clock.advance(30)
        assert work.runs == 0
        troubled.is_down = False
        await advance_until(clock, lambda: work.runs == 1, step_s=5, what="a run when the store is back")


async def test_job_does_not_wait_for_a_start_in_the_future__when_the_clock_was_set_back(
    env: WorkerEnv, clock: FakeClock
) -> None:
    work = Counting()
    job = CronJob("count", 60, work)
    await inside(env, lambda: run_job(job))
    clock.shift(-3600)
    async with running(Cron(env, jobs=[job])):
        await eventually(lambda: work.runs == 2, what="a run under the new time")


async def test_malformed_record_of_a_run_is_no_run(env: WorkerEnv) -> None:
    await env.writes.commit([Put("cron:count", b"junk")])
    assert await inside(env, lambda: get_cron_run("count")) is None


async def test_job_sees_the_env_in_scope(env: WorkerEnv) -> None:
    seen: list[object] = []

    async def look() -> None:
        seen.append(get_worker_env())

    async with running(Cron(env, jobs=[CronJob("look", 60, look)])):
        await eventually(lambda: bool(seen), what="a run")
    assert seen == [env]


async def test_purge_removes_what_has_expired__and_old_events(env: WorkerEnv, clock: FakeClock) -> None:
    await env.writes.commit([Put("short", b"x", ttl_s=10), Put("long", b"x"), Emit("old", "s", b"{}")])
    clock.shift(env.settings.events_kept_s + 1)
    await env.writes.commit([Emit("new", "s", b"{}")])
    assert await inside(env, purge_expired) == {"purged": 1, "eventsTrimmed": 1}
    assert await env.kv.get("long") is not None


@pytest.mark.parametrize("name", ["sweep", "purge"])
async def test_standard_job_runs(env: WorkerEnv, name: str) -> None:
    [job] = [job for job in standard_jobs(env) if job.name == name]
    assert (await inside(env, lambda: run_job(job))).error is None


async def test_cron_survives_trouble_while_it_records_a_run(env: WorkerEnv, clock: FakeClock) -> None:
    class Forgetful:
        """Takes leases and refuses records."""

        is_full = True

        def __getattr__(self, name: str) -> object:
            return getattr(env.writes, name)

        async def commit(self, operations: list[Put]) -> object:
            if self.is_full and any(operation.key.startswith("cron:") for operation in operations):
                raise StoreUnavailable("planted")
            return await env.writes.commit(operations)

    writes, work = Forgetful(), Counting()
    async with running(Cron(replace(env, writes=writes), jobs=[CronJob("count", 60, work)])):  # type: ignore[arg-type]
        await clock.advance(30)
        assert work.runs == 0
        writes.is_full = False
        await advance_until(clock, lambda: work.runs == 1, step_s=5, what="a run when the store is back")


async def test_cron_stops__though_the_store_is_down(env: WorkerEnv) -> None:
    class Down:
        is_down = False

        def __getattr__(self, name: str) -> object:
            if self.is_down:
                raise StoreUnavailable("planted")
            return getattr(env.writes, name)

    writes, work = Down(), Counting()
    async with running(Cron(replace(env, writes=writes), jobs=[CronJob("count", 60, work)])):  # type: ignore[arg-type]
        await eventually(lambda: work.runs == 1, what="the first run")
        writes.is_down = True


async def test_job_that_hangs_is_ended_at_its_limit__the_others_run_meanwhile(env: WorkerEnv, clock: FakeClock) -> None:
    ended: list[str] = []

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("hangs")

    work = Counting()
    async with running(Cron(env, jobs=[CronJob("hangs", 3600, hang), CronJob("count", 60, work)])):
        await advance_until(clock, lambda: work.runs >= 3, step_s=10, what="the job beside the one that hangs")
        assert ended == []
        await advance_until(clock, lambda: ended == ["hangs"], step_s=60, what="the limit of the one that hangs")
    assert "TimeoutError" in ((await last_run(env, "hangs")).error or "")


async def test_stop_ends_a_job_that_goes_on__after_the_grace_time(env: WorkerEnv, clock: FakeClock) -> None:
    started = asyncio.Event()

    async def hang() -> None:
        started.set()
        await asyncio.Event().wait()

    cron = Cron(env, jobs=[CronJob("hangs", 3600, hang)])
    task = asyncio.create_task(cron.run())
    await started.wait()
    cron.stop()
    await advance_until(clock, task.done, step_s=5, what="the cron stopped")
    await task
    assert ((await last_run(env, "hangs")).error or "").startswith("stopped")


async def test_lease_of_a_clock_that_was_set_back_is_taken_over(env: WorkerEnv, clock: FakeClock) -> None:
    dying = asyncio.create_task(Cron(env, jobs=[CronJob("a", 60, Counting())]).run())
    await advance_until(clock, lambda: clock.sleepers >= 1, step_s=0.001, what="the holder at work")
    dying.cancel()
    await asyncio.gather(dying, return_exceptions=True)
    clock.shift(-86_400)
    work = Counting()
    async with running(Cron(env, jobs=[CronJob("b", 60, work)])):
        await advance_until(clock, lambda: work.runs == 1, step_s=5, what="a run under the new time")
