"""Many keys of a KV with neither bulk reads nor scans, each read taking five milliseconds."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from benchmarks.fixtures import env_over, folder, open_engine
from benchmarks.report import Row, at_least
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.engines.sqlite import SqliteEngine
from vskill_platform.ports.commit import Put
from vskill_platform.ports.kv import Entry
from vskill_platform.stores.records import encode_record
from vskill_platform.stores.submissions import get_submissions_fresh
from vskill_platform.testing.probe import PlainProbe
from vskill_platform.testing.submissions import submission_at
from vskill_platform.worker_context import run_with_worker_env

COUNT = 4000
READ_S = 0.005


class SlowKV(PlainProbe):
    """The plain KV of an engine, five milliseconds away."""

    def __init__(self, engine: SqliteEngine) -> None:
        super().__init__(engine)

    async def get(self, key: str) -> Entry | None:
        """The engine's get after the way there."""
        await asyncio.sleep(READ_S)
        return await self._kv.get(key)


async def run() -> list[Row]:
    """The store's read of all, against one get after the other."""
    ids = [f"sub_{number:032x}" for number in range(COUNT)]
    with folder() as path:
        async with open_engine(path, synchronous="OFF") as engine:
            records = [submission_at(SubmissionState.RECEIVED, updated_ms=0, identity=id) for id in ids]
            await engine.writes.commit([Put(f"sub:{record.id}", encode_record(record)) for record in records])
            kv = SlowKV(engine)
            env = replace(env_over(engine, path), kv=kv)
            started = time.perf_counter()
            found = await run_with_worker_env(env, lambda: get_submissions_fresh(ids))
            ours_s = time.perf_counter() - started
            assert len(found) == COUNT
            started = time.perf_counter()
            for id in ids:
                await kv.get(f"sub:{id}")
            sequential_s = time.perf_counter() - started
    return [
        at_least(
            "plain_reads_against_sequential",
            sequential_s / ours_s,
            target=100,
            detail=f"{COUNT:,} keys at 5 ms a read: {ours_s * 1e3:.0f} ms against {sequential_s:.1f} s",
        )
    ]
