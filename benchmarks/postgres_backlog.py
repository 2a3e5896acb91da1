"""A hundred thousand submissions that wait in the queue, drained by four worker processes on one PostgreSQL.

The backlog came in evenly over some hours. The work is cheap, so that the queue and the commits are what is seen: a submission is
claimed and left to a person, in two commits with record, history, catalog row, event and Ack. With
`VSKILL_BENCH_BACKLOG_WORK=pipeline` it is the whole pipeline, to publication, with a scan that takes no time: all submissions
are of the same small skill, in a repository each, and its bytes are pinned. `VSKILL_BENCH_BACKLOG` is how many wait.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.progress import track

from benchmarks.fixtures import HOUR_MS, env_over, folder, postgres_server
from benchmarks.machine import CpuUse, load_note, resident_mb
from benchmarks.report import Row, at_least, at_most, told
from benchmarks.workers import Place, pin_skill, running_workers, submitting
from vskill_platform.app import open_env
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.clock import FakeClock
from vskill_platform.worker_context import run_with_worker_env

COUNT = int(os.environ.get("VSKILL_BENCH_BACKLOG", "100000"))
WORK = os.environ.get("VSKILL_BENCH_BACKLOG_WORK", "review")
END_STATE = {"review": SubmissionState.NEEDS_REVIEW, "pipeline": SubmissionState.PUBLISHED}[WORK]
PROCESSES = 4
CAME_OVER_MS = 6 * HOUR_MS
LOOK_S = 5.0
TIME_LIMIT_S = 3600.0
_CHUNK = 100
_ENDED = f"SELECT count(*) FROM vskill.catalog_submissions WHERE state = '{END_STATE}'"
_TOLD = f"""
SELECT count(*) FROM vskill.event
WHERE kind = 'submission.state_changed' AND convert_from(data, 'UTF8')::jsonb ->> 'state' = '{END_STATE}'
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """A look at the queue and at the processes: seconds since the start, messages left, age of the oldest, memory of each."""

    at_s: float
    left: int
    oldest_s: float
    resident_mb: tuple[float, ...]


async def run() -> list[Row]:
    """Load, drain, count."""
    with postgres_server() as server, folder() as data:
        place = Place(server, server.create_database(), data)
        await _load(place)
        async with (
            open_env(place.settings()) as env,
            running_workers(place, PROCESSES, work="review" if WORK == "review" else "0") as pids,
        ):
            cpu = CpuUse()
            samples = await _watch(env, pids)
            everybody = cpu.of_everybody()
            dead = (await env.queue.stats(SUBMISSIONS_QUEUE)).dead
        ended, events = place.count(_ENDED), place.count(_TOLD)
    seconds = samples[-1].at_s
    return [
        at_least(
            "postgres_backlog_out_of_in",
            ended / COUNT if ended == events else 0,
            target=1,
            unit="of all",
            detail=f"{COUNT:,} in; {ended:,} are {END_STATE}, {events:,} events say so, {dead} dead letters",
        ),
        _memory_row(samples),
        _age_row(samples),
        told(
            "postgres_backlog_rate",
            COUNT / seconds,
            unit="/s",
            detail=f"{seconds:,.0f} s by {PROCESSES} processes, work: {WORK}; processor {everybody:.0%} in use; {load_note()}",
        ),
    ]


async def _load(place: Place) -> None:
    """Everything that waits, by a clock that goes from some hours ago until now."""
    began_ms = SystemClock().now_ms() - CAME_OVER_MS
    clock = FakeClock(began_ms)
    engine = await open_postgres(
        place.server.url(place.database), clock=clock, uses_database_time=False, statement_timeout_s=300
    )
    env = env_over(engine, place.data)

    async def fill() -> None:
        pin = await pin_skill("greeting")
        for first in track(range(0, COUNT, _CHUNK), description=f"queueing {COUNT:,}", transient=True):
            clock.shift((began_ms + CAME_OVER_MS * first / COUNT - clock.now_ms()) / 1000)
            numbers = range(first, min(first + _CHUNK, COUNT))
            await engine.writes.commit([one for number in numbers for one in submitting(f"fork-{number}", pin)])

    try:
        await run_with_worker_env(env, fill)
    finally:
        await engine.close()


async def _watch(env: WorkerEnv, pids: Sequence[int]) -> list[Sample]:
    """A look every few seconds, until nothing is left."""
    samples: list[Sample] = []
    began = time.perf_counter()
    async with asyncio.timeout(TIME_LIMIT_S):
        while True:
            samples.append(await _look(env, pids, began))
            if not samples[-1].left:
                return samples
            await asyncio.sleep(LOOK_S)


async def _look(env: WorkerEnv, pids: Sequence[int], began: float) -> Sample:
    stats = await env.queue.stats(SUBMISSIONS_QUEUE)
    now_ms = env.clock.now_ms()
    return Sample(
        time.perf_counter() - began,
        stats.waiting + stats.delayed + stats.leased,
        0 if stats.oldest_ms is None else (now_ms - stats.oldest_ms) / 1000,
        tuple(resident_mb(pid) for pid in pids),
    )


def _memory_row(samples: list[Sample]) -> Row:
    """The growth from the second to the last quarter of the run, of the process that grew most: the first is for warming up."""
    quarter = max(len(samples) // 4, 1)
    early, late = samples[quarter : 2 * quarter] or samples, samples[-quarter:]
    growth = [
        statistics.median(one.resident_mb[process] for one in late)
        / statistics.median(one.resident_mb[process] for one in early)
        for process in range(PROCESSES)
    ]
    ends = ", ".join(
        f"{first:.0f}-{last:.0f}" for first, last in zip(early[0].resident_mb, late[-1].resident_mb, strict=True)
    )
    most = max(max(one.resident_mb) for one in samples)
    return at_most(
        "postgres_backlog_memory_growth",
        max(growth),
        target=1.1,
        detail=f"last quarter against second, of {len(samples)} looks; MB of each process {ends}; most {most:.0f}",
    )


def _age_row(samples: list[Sample]) -> Row:
    """How many looks found the oldest message younger than the look before."""
    pairs = list(pairwise(samples))
    falling = sum(after.oldest_s < before.oldest_s for before, after in pairs)
    tenths = [samples[(len(samples) - 1) * tenth // 10] for tenth in range(11)]
    ages = ", ".join(f"{sample.oldest_s / 60:.0f}" for sample in tenths)
    return at_least(
        "postgres_backlog_age_falls",
        falling / len(pairs),
        target=0.99,
        unit="of looks",
        detail=f"{falling} of {len(pairs)} looks, {LOOK_S:g} s apart; minutes at each tenth of the run: {ages}",
    )
