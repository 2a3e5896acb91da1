"""Finding ten stuck submissions among a million on PostgreSQL."""

from __future__ import annotations

import statistics
import time

from benchmarks.fixtures import env_over, folder, load_into, open_on_server, postgres_server, settled
from benchmarks.report import Row, at_most
from vskill_platform.ports.engine import Engine
from vskill_platform.stores.submissions import get_stuck_submissions
from vskill_platform.worker_context import run_with_worker_env

SMALL, LARGE = 10_000, 1_000_000
STUCK = 10
ROUNDS = 50


async def run() -> list[Row]:
    """The same database with 10,000 submissions, then with 1,000,000; the ten stuck ones are among the first."""
    with postgres_server() as server:
        async with open_on_server(server, statement_timeout_s=300.0) as engine:
            every = SMALL // STUCK
            await load_into(engine, SMALL, lambda n: settled(n, is_stuck=n % every == 0), what="submissions")
            small_s = await _sweep_s(engine)
            await load_into(engine, LARGE, lambda n: settled(n, is_stuck=False), what="submissions", start=SMALL)
            large_s = await _sweep_s(engine)
    return [
        at_most(
            "postgres_stuck_sweep",
            large_s * 1e3,
            target=5,
            unit="ms",
            detail=f"{STUCK} stuck of {LARGE:,}, median of {ROUNDS}",
        ),
        at_most(
            "postgres_stuck_sweep_growth",
            large_s / small_s,
            target=2,
            detail=f"{LARGE:,} against {SMALL:,} submissions ({small_s * 1e3:.2f} ms)",
        ),
    ]


async def _sweep_s(engine: Engine) -> float:
    times: list[float] = []
    with folder() as path:
        env = env_over(engine, path)
        for _ in range(ROUNDS):
            started = time.perf_counter()
            found = await run_with_worker_env(env, get_stuck_submissions)
            times.append(time.perf_counter() - started)
            assert len(found) == STUCK
    return statistics.median(times)
