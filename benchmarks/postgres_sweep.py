"""Finding ten stuck submissions among a million on PostgreSQL, beside ten among ten thousand.

Both databases are asked in turns, so that whatever else the machine does befalls both. Rows are copied in and the table is
vacuumed and analysed, as autovacuum has done in a database that came to this size by itself.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import asyncpg
from rich.progress import track

from benchmarks.fixtures import env_over, folder, postgres_server, settled
from benchmarks.machine import load_note
from benchmarks.report import Row, at_most, told
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.ports.commit import Put
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.submissions import get_stuck_submissions
from vskill_platform.testing.postgres_server import PostgresServer
from vskill_platform.worker.recovery import sweep_stuck_submissions
from vskill_platform.worker_context import run_with_worker_env

SMALL, LARGE = 10_000, 1_000_000
STUCK = 10
ROUNDS = 200
_COLUMNS = ("key", "version", "due_ms", "value")
_BLOCKS = """
SELECT coalesce(sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit), 0)
FROM pg_statio_user_tables WHERE schemaname = 'vskill' AND relname = 'kv'
"""
_STAYS_S = 1.5


async def run() -> list[Row]:
    """The search in turns on both databases, the blocks that it touches, and one whole sweep on each."""
    with postgres_server() as server, folder() as path:
        urls = [server.url(server.create_database()) for _ in (SMALL, LARGE)]
        for url, count in zip(urls, (SMALL, LARGE), strict=True):
            await _fill(url, count)
        before = [await _blocks(server, url) for url in urls]
        async with _envs(urls, path) as envs:
            times = await _search_in_turns(envs)
        after = [await _blocks(server, url) for url in urls]
        blocks = [(end - start) / ROUNDS for start, end in zip(before, after, strict=True)]
        async with _envs(urls, path) as envs:
            sweeps = [await _sweep_s(env) for env in envs]
    return _rows(times, blocks, sweeps)


def _rows(times: Sequence[Sequence[float]], blocks: Sequence[float], sweeps: Sequence[float]) -> list[Row]:
    small_s, large_s = map(statistics.median, times)
    fastest = f"fastest {min(times[0]) * 1e3:.2f} and {min(times[1]) * 1e3:.2f} ms"
    return [
        at_most(
            "postgres_stuck_sweep",
            large_s * 1e3,
            target=5,
            unit="ms",
            detail=f"{STUCK} stuck of {LARGE:,}, median of {ROUNDS}; {load_note()}",
        ),
        at_most(
            "postgres_stuck_sweep_growth",
            large_s / small_s,
            target=2,
            detail=f"{LARGE:,} against {SMALL:,} submissions ({small_s * 1e3:.2f} ms), in turns; {fastest}; {load_note()}",
        ),
        at_most(
            "postgres_stuck_sweep_blocks",
            blocks[1] / blocks[0],
            target=2,
            detail=f"{blocks[1]:.1f} blocks touched a search against {blocks[0]:.1f}: no matter how busy the machine is",
        ),
        told(
            "postgres_whole_sweep",
            sweeps[1] * 1e3,
            unit="ms",
            detail=f"once, with {STUCK} commits that send again; at {SMALL:,} submissions {sweeps[0] * 1e3:.1f} ms",
        ),
    ]


async def _fill(url: str, count: int) -> None:
    await (await open_postgres(url)).close()
    connection = await asyncpg.connect(url, server_settings={"search_path": "vskill"})
    try:
        await connection.copy_records_to_table("kv", columns=_COLUMNS, records=_records(count), timeout=600)
        await connection.execute(f"SELECT setval('commit_number', {count})")
        await connection.execute("VACUUM ANALYZE kv", timeout=600)
    finally:
        await connection.close()


def _records(count: int) -> Iterator[tuple[str, int, int | None, bytes]]:
    """Submissions as the engine keeps them, the stuck ones evenly among them."""
    for number in track(range(count), description=f"loading {count:,} submissions", transient=True):
        (put,) = settled(number, is_stuck=number % (count // STUCK) == 0)
        assert isinstance(put, Put)
        yield put.key, number + 1, put.due_ms, put.value


@asynccontextmanager
async def _envs(urls: Sequence[str], path: Path) -> AsyncIterator[list[WorkerEnv]]:
    async with AsyncExitStack() as stack:
        engines = [await open_postgres(url) for url in urls]
        for engine in engines:
            stack.push_async_callback(engine.close)
        yield [env_over(engine, path) for engine in engines]


async def _search_in_turns(envs: Sequence[WorkerEnv]) -> list[list[float]]:
    times: list[list[float]] = [[] for _ in envs]
    for _ in range(ROUNDS):
        for env, taken in zip(envs, times, strict=True):
            started = time.perf_counter()
            found = await run_with_worker_env(env, get_stuck_submissions)
            taken.append(time.perf_counter() - started)
            assert len(found) == STUCK
    return times


async def _sweep_s(env: WorkerEnv) -> float:
    started = time.perf_counter()
    report = await run_with_worker_env(env, sweep_stuck_submissions)
    assert report.requeued == STUCK
    return time.perf_counter() - started


async def _blocks(server: PostgresServer, url: str) -> int:
    """How many blocks of the table were touched so far. Connections tell when they end, so it is asked until it stays."""
    touched, before = 0, -1
    while touched != before:
        before = touched
        await asyncio.sleep(_STAYS_S)
        touched = int(server.execute(_BLOCKS, database=url.rsplit("/", 1)[1]))
    return touched
