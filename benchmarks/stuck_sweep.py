"""Finding ten stuck submissions among a million, against reading them all."""

from __future__ import annotations

import statistics
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.fixtures import env_over, folder, load_submissions, open_engine
from benchmarks.report import Row, at_least, at_most
from vskill_platform.stores.submissions import get_stuck_submissions
from vskill_platform.testing.probe import PlainProbe
from vskill_platform.worker_context import run_with_worker_env

STUCK = 10
ROUNDS = 30


async def run() -> list[Row]:
    """The due index at 10,000 and 1,000,000, and the seeds' way at 100,000, scaled to a million."""
    with folder() as small, folder() as middle, folder() as large:
        await load_submissions(small, 10_000, stuck=STUCK)
        await load_submissions(middle, 100_000, stuck=STUCK)
        await load_submissions(large, 1_000_000, stuck=STUCK)
        small_s, large_s = await _native_s(small), await _native_s(large)
        all_s = await _read_all_s(middle) * 10
    return [
        at_least(
            "stuck_sweep_against_reading_all",
            all_s / large_s,
            target=1000,
            detail=f"{large_s * 1e3:.2f} ms for {STUCK} of 1,000,000; list + gets + decode {all_s:.1f} s (from 100,000)",
        ),
        at_most(
            "stuck_sweep_growth",
            large_s / small_s,
            target=2,
            detail=f"1,000,000 against 10,000 submissions ({small_s * 1e3:.2f} ms), median of {ROUNDS}",
        ),
    ]


async def _native_s(path: Path) -> float:
    async with open_engine(path) as engine:
        env = env_over(engine, path)
        times: list[float] = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            found = await run_with_worker_env(env, get_stuck_submissions)
            times.append(time.perf_counter() - started)
            assert len(found) == STUCK
        return statistics.median(times)


async def _read_all_s(path: Path) -> float:
    async with open_engine(path) as engine:
        plain = replace(env_over(engine, path), kv=PlainProbe(engine))
        started = time.perf_counter()
        found = await run_with_worker_env(plain, get_stuck_submissions)
        assert len(found) == STUCK
        return time.perf_counter() - started
