"""Enumerating every published skill, against one raw SQL scan with the same decode."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import apsw

from benchmarks.fixtures import env_over, folder, load_skills, open_engine
from benchmarks.report import Row, at_most
from vskill_platform.stores.skills import _decode_summary, enumerate_published_skills
from vskill_platform.worker_context import run_with_worker_env

COUNT = 100_000
ROUNDS = 5


async def run() -> list[Row]:
    """Both in turns, median of each."""
    with folder() as path:
        await load_skills(path, COUNT)
        ours: list[float] = []
        raw: list[float] = []
        async with open_engine(path) as engine:
            env = env_over(engine, path)
            for _ in range(ROUNDS):
                started = time.perf_counter()
                found = await run_with_worker_env(env, enumerate_published_skills)
                ours.append(time.perf_counter() - started)
                assert len(found) == COUNT
                del found
                raw.append(_raw_scan_s(path))
    ours_s, raw_s = statistics.median(ours), statistics.median(raw)
    return [
        at_most(
            "enumeration_against_raw_scan",
            ours_s / raw_s,
            target=1.5,
            detail=f"{COUNT:,} skills: {ours_s * 1e3:.0f} ms against {raw_s * 1e3:.0f} ms, median of {ROUNDS}",
        )
    ]


def _raw_scan_s(path: Path) -> float:
    connection = apsw.Connection(str(path / "registry.db"), flags=apsw.SQLITE_OPEN_READONLY)
    started = time.perf_counter()
    rows = connection.execute(
        "SELECT key, value FROM kv WHERE (key >= 'skill:' AND key < 'skill:alias:')"
        " OR (key >= 'skill:alias;' AND key < 'skill;') ORDER BY key"
    )
    found = [_decode_summary(key, value) for key, value in rows]
    elapsed = time.perf_counter() - started
    assert len(found) == COUNT
    connection.close()
    return elapsed
