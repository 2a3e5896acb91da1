"""The cron: jobs that run again and again, by whichever process holds the lease.

A job that fails is logged, recorded and tried again at its next time; it never keeps another job from running.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

import msgspec
import structlog

from vskill_platform import metrics
from vskill_platform.domain.errors import VskillError
from vskill_platform.notify.watching import watch_registry
from vskill_platform.pipeline.dry_runs import advance_dry_runs
from vskill_platform.pipeline.reaping import reap_external_scans
from vskill_platform.pipeline.repo_looks import look_at_repositories
from vskill_platform.pipeline.rescan_all import advance_rescan
from vskill_platform.pipeline.rule_hits import count_rule_hits
from vskill_platform.ports.clock import Clock
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.cron_runs import CronRun, get_cron_run, record_cron_run
from vskill_platform.stores.installs import refresh_installs
from vskill_platform.stores.leases import HeldLease, give_up_lease, renew_lease, take_lease
from vskill_platform.stores.series import count_events
from vskill_platform.stores.submissions import pinned_digests
from vskill_platform.stores.versions import referenced_digests
from vskill_platform.worker.drift import compare_catalog
from vskill_platform.worker.pulse import Pulse
from vskill_platform.worker.recovery import sweep_stuck_submissions
from vskill_platform.worker_context import current_env, run_with_worker_env

LEASE_NAME = "cron"
TURN_LIMIT_S = 120.0
"""How much longer than it waits the cron may take to come round before it is taken to hang."""
BLOBS_KEPT_MS = 24 * 3600 * 1000
"""How long an archive that nothing names is kept: longer than any run takes from storing it to naming it."""
RULES_TIME_BOX_MS = 8_000
_log = structlog.get_logger(__name__)


class CronJob(NamedTuple):
    """Something to do every so often. What it gives back is kept with its record, as JSON."""

    name: str
    interval_s: float
    run: Callable[[], Awaitable[object]]


def standard_jobs(env: WorkerEnv) -> list[CronJob]:
    """The jobs of every registry."""
    settings = env.settings
    return [
        CronJob("sweep", settings.sweep_interval_s, sweep_stuck_submissions),
        CronJob("purge", settings.purge_interval_s, purge_expired),
        CronJob("figures", settings.figures_interval_s, count_events),
        CronJob("collect", settings.collect_interval_s, collect_blobs),
        CronJob("recount", settings.recount_interval_s, refresh_installs),
        CronJob("drift", settings.drift_interval_s, compare_catalog),
        CronJob("rules", settings.rules_interval_s, go_on_with_rules),
        CronJob("rule_hits", settings.rule_hits_interval_s, count_rule_hits),
        CronJob("external", settings.external_reap_interval_s, reap_external_scans),
        CronJob("repo_health", settings.repo_health_interval_s, look_at_repositories),
        CronJob("alerts", settings.alert_interval_s, watch_registry),
    ]


async def go_on_with_rules() -> dict[str, int]:
    """Go on with dry runs and with the rescan that is under way, side by side, for a while."""
    until_ms = current_env("clock").clock.now_ms() + RULES_TIME_BOX_MS
    async with asyncio.TaskGroup() as group:
        examined = group.create_task(advance_dry_runs(until_ms=until_ms))
        rescanned = group.create_task(advance_rescan(until_ms=until_ms))
    return {"examined": examined.result(), "rescanned": rescanned.result()}


async def purge_expired() -> dict[str, int]:
    """Remove what has expired, and events that are older than they are kept."""
    env = current_env("writes")
    before_ms = env.clock.now_ms() - int(env.settings.events_kept_s * 1000)
    return {"purged": await env.writes.purge(), "eventsTrimmed": await env.events.trim(before_ms=before_ms)}


async def collect_blobs() -> dict[str, int]:
    """Remove archives that no version and no submission names, once they are a day old."""
    env = current_env("blobs")
    before_ms = env.clock.now_ms() - BLOBS_KEPT_MS
    # A skill that is renamed meanwhile moves its versions to keys that a pass may have behind it: two passes see them.
    referenced = await referenced_digests() | await pinned_digests() | await referenced_digests()
    return {"collected": await env.blobs.collect(referenced, put_before_ms=before_ms)}


class Cron:
    """Runs the jobs while it holds the lease, and tries to get it while it does not."""

    def __init__(self, env: WorkerEnv, *, jobs: Sequence[CronJob] | None = None) -> None:
        self._env = env
        self._jobs = standard_jobs(env) if jobs is None else jobs
        self._holder = env.random_id().hex
        self._lease: HeldLease | None = None
        self._stopping = asyncio.Event()
        self._running: dict[str, asyncio.Task[CronRun]] = {}
        self.pulse = Pulse(limit_s=TURN_LIMIT_S + self._between_turns_s)

    @property
    def is_holder(self) -> bool:
        """Whether this process runs the jobs at present."""
        return self._lease is not None

    def stop(self) -> None:
        """Start no more jobs; `run` returns when the running one has ended."""
        self._stopping.set()

    async def run(self) -> None:
        """Run jobs until stopped."""
        await run_with_worker_env(self._env, self._run)

    async def _run(self) -> None:
        try:
            await self._run_until_stopped()
        finally:
            for task in self._running.values():
                task.cancel()
            await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _run_until_stopped(self) -> None:
        while not self._stopping.is_set():
            self.pulse.beat()
            try:
                await self._keep_lease()
                if self._lease is not None:
                    await self._start_due_jobs()
            except VskillError as error:
                _log.error("cron_trouble", code=error.code, error=error.message)
            await self._wait(self._between_turns_s)
        self.pulse.rest()
        await self._end_jobs()
        await self._give_up_lease()

    async def _start_due_jobs(self) -> None:
        """Start what is due and does not run yet. A job that takes its time holds up no other, and not the lease."""
        for job in self._jobs:
            running = self._running.get(job.name)
            if (running is None or running.done()) and await self._is_due(job):
                self._running[job.name] = task = asyncio.create_task(run_job(job, stopping=self._stopping))
                task.add_done_callback(_log_failure)

    async def _end_jobs(self) -> None:
        """Wait for what runs, and hold on to the lease meanwhile."""
        while pending := [task for task in self._running.values() if not task.done()]:
            await wait_for_any(self._env.clock, pending, seconds=self._renewal_s)
            try:
                await self._keep_lease()
            except VskillError as error:
                _log.error("cron_lease_not_renewed", error=error.message)

    async def _give_up_lease(self) -> None:
        if self._lease is None:
            return
        try:
            await give_up_lease(self._lease)
        except VskillError as error:
            _log.warning("cron_lease_kept", error=error.message, detail="It ends by itself.")
        self._note_lease(None)

    def _note_lease(self, lease: HeldLease | None) -> None:
        self._lease = lease
        metrics.CRON_HOLDER.set(lease is not None)

    @property
    def _between_turns_s(self) -> float:
        return min([self._renewal_s, *(job.interval_s for job in self._jobs)])

    @property
    def _renewal_s(self) -> float:
        return self._env.settings.cron_lease_s / 3

    async def _keep_lease(self) -> None:
        seconds = self._env.settings.cron_lease_s
        if self._lease is None:
            self._note_lease(await take_lease(LEASE_NAME, holder=self._holder, seconds=seconds))
        else:
            self._note_lease(await renew_lease(self._lease, seconds=seconds))

    async def _is_due(self, job: CronJob) -> bool:
        last = await get_cron_run(job.name)
        if last is None:
            return True
        elapsed_ms = self._env.clock.now_ms() - last.started_ms
        # A start in the future was written by a clock that has since been set back: do not wait for it to come.
        return elapsed_ms >= job.interval_s * 1000 or elapsed_ms < 0

    async def _wait(self, seconds: float) -> None:
        await wait_at_most(self._env.clock, self._stopping, seconds=seconds)


async def wait_at_most(clock: Clock, event: asyncio.Event, *, seconds: float) -> bool:
    """Wait for an event, but not longer than this. Says whether it came."""
    try:
        async with clock.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def _log_failure(task: asyncio.Task[CronRun]) -> None:
    """A job's own failure is in its record; this is the failure to keep one."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("cron_job_not_recorded", error=f"{type(error).__name__}: {error}")


async def wait_for_any(clock: Clock, tasks: Sequence[asyncio.Task[CronRun]], *, seconds: float) -> None:
    """Wait for one of the tasks to end, but not longer than this."""
    try:
        async with clock.timeout(seconds):
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    except TimeoutError:
        return


async def run_job(job: CronJob, *, stopping: asyncio.Event | None = None) -> CronRun:
    """Run a job once and record how it went. Raises nothing of the job's own.

    A job that takes longer than its limit is cancelled; so is one that goes on past the grace time after `stopping`.
    """
    env = current_env("clock")
    run = CronRun(job=job.name, started_ms=env.clock.now_ms(), interval_s=job.interval_s)
    await record_cron_run(run)
    try:
        result = await _run_within_limits(job, stopping)
        run = msgspec.structs.replace(run, result=msgspec.Raw(msgspec.json.encode(result)))
    except asyncio.CancelledError as error:
        if stopping is None or not stopping.is_set():
            raise
        run = msgspec.structs.replace(run, error=f"stopped: {error}")
    except Exception as error:  # a job that fails must not keep the others from running
        _log.exception("cron_job_failed", job=job.name)
        run = msgspec.structs.replace(run, error=f"{type(error).__name__}: {error}")
    run = msgspec.structs.replace(run, finished_ms=env.clock.now_ms())
    metrics.CRON_RUNS.labels(job.name, "ok" if run.error is None else "failed").inc()
    await record_cron_run(run)
    return run


async def _run_within_limits(job: CronJob, stopping: asyncio.Event | None) -> object:
    env = current_env("clock")
    async with env.clock.timeout(env.settings.cron_job_limit_s):
        task = asyncio.ensure_future(job.run())
        watch = asyncio.ensure_future(_cancel_after_grace(task, stopping))
        try:
            return await task
        finally:
            watch.cancel()


async def _cancel_after_grace(task: asyncio.Future[object], stopping: asyncio.Event | None) -> None:
    if stopping is not None:
        await stopping.wait()
        env = current_env("clock")
        await env.clock.sleep(env.settings.drain_grace_s)
        task.cancel()
