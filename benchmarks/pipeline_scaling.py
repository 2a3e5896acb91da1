"""Submissions through the whole pipeline with 1, 2, 4 and 8 worker processes on one PostgreSQL, scan time simulated.

The processes are real ones with a scanner that waits (`benchmarks.worker`), one submission in flight each. Throughput is all
submissions, divided by the time from the commit that brings them until the last of them is published.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.fixtures import folder, postgres_server
from benchmarks.machine import BUSY_SHARE, CpuUse, cpu_seconds, load_note
from benchmarks.report import Row, at_least, told
from benchmarks.workers import Place, pin_skill, running_workers, submitting
from vskill_platform.app import open_env
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.ports.commit import Operation
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.postgres_server import PostgresServer
from vskill_platform.worker_context import run_with_worker_env

PROCESSES = (1, 2, 4, 8)
SCAN_S = float(os.environ.get("VSKILL_BENCH_SCAN_S", "1"))
SUBMISSIONS_EACH = 12
ROUNDS = 2
TARGET = 0.9
_LOOK_S = 0.02
_PUBLISHED = "SELECT count(*) FROM vskill.catalog_submissions WHERE state = 'PUBLISHED'"


@dataclass(frozen=True, slots=True)
class Measured:
    """Submissions a second, and the share of the processor that everybody and our own processes had meanwhile."""

    rate: float
    everybody: float
    own: float


async def run() -> list[Row]:
    """Every number of processes in each round; the median of each counts."""
    found: dict[int, list[Measured]] = {count: [] for count in PROCESSES}
    with postgres_server() as server:
        for _ in range(ROUNDS):
            for count in PROCESSES:
                with folder() as data:
                    found[count].append(await _measure(server, data, count))
    alone = statistics.median(measured.rate for measured in found[1])
    return [_row(count, measured, alone=alone) for count, measured in found.items()]


async def _measure(server: PostgresServer, data: Path, count: int) -> Measured:
    place = Place(server, server.create_database(), data)
    async with (
        open_env(place.settings()) as env,
        running_workers(place, count, work=str(SCAN_S), batch_size=1, batches_in_flight=1) as pids,
    ):
        total = count * SUBMISSIONS_EACH
        operations = await run_with_worker_env(env, lambda: _operations(total))
        own_before, cpu, began = _own_seconds(server, pids), CpuUse(), time.perf_counter()
        await env.writes.commit(operations)
        await _until_empty(env)
        seconds = time.perf_counter() - began
        own = cpu.of_seconds(_own_seconds(server, pids) - own_before)
        measured = Measured(total / seconds, cpu.of_everybody(), own)
    published = place.count(_PUBLISHED)
    assert published == total, f"{published} of {total} were published"
    return measured


async def _operations(total: int) -> list[Operation]:
    return [one for number in range(total) for one in submitting(f"skill-{number}", await pin_skill(f"skill-{number}"))]


async def _until_empty(env: WorkerEnv) -> None:
    while sum((await env.queue.stats(SUBMISSIONS_QUEUE))[:3]):  # noqa: ASYNC110 - others empty it
        await asyncio.sleep(_LOOK_S)


def _own_seconds(server: PostgresServer, pids: list[int]) -> float:
    return cpu_seconds([*pids, os.getpid(), server.pid, *server.backends()])


def _row(count: int, measured: list[Measured], *, alone: float) -> Row:
    rate = statistics.median(one.rate for one in measured)
    everybody = statistics.median(one.everybody for one in measured)
    own = statistics.median(one.own for one in measured)
    detail = (
        f"{rate:.2f}/s against {alone:.2f}/s of one; scans of {SCAN_S:g} s, one in flight a process, "
        f"{SUBMISSIONS_EACH} submissions each; processor {everybody:.0%} in use, {own:.0%} by this run"
        f"{_bound(everybody, own)}; {load_note()}; median of {ROUNDS} rounds"
    )
    name = f"pipeline_scaling_{count}_processes"
    if count == 1:
        return told(name, rate, unit="/s", detail=detail)
    judged = at_least(name, rate / alone / count, target=TARGET, unit="of linear", detail=detail)
    return (
        judged if judged.holds or everybody < BUSY_SHARE else told(name, judged.value, unit="of linear", detail=detail)
    )


def _bound(everybody: float, own: float) -> str:
    if everybody < BUSY_SHARE:
        return ""
    return ", CPU-BOUND" if own >= BUSY_SHARE else ", CPU-BOUND by others"
