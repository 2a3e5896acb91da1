"""The due index is used for good: also by the plan that the server makes once for all values, after a few calls."""

from __future__ import annotations

import asyncpg

from vskill_platform.engines.postgres import open_postgres
from vskill_platform.testing.waits import eventually

ROWS, DUE = 10_000, 10
CALLS = 20
"""After five calls with the same statement the server may change to a plan that fits all values."""
_LOAD = f"""
INSERT INTO kv (key, version, due_ms, value)
SELECT 'sub:' || lpad(number::text, 32, '0'), number, CASE WHEN number % {ROWS // DUE} = 0 THEN 1 END, repeat('x', 400)::bytea
FROM generate_series(1, {ROWS}) AS number
"""
_SCANS = "SELECT coalesce(sum(idx_scan), 0) FROM pg_stat_user_indexes WHERE indexrelname = 'kv_due'"


async def test_list_due_reads_by_the_due_index_every_time__after_the_table_was_analysed(
    postgres_url: str, connection: asyncpg.Connection
) -> None:
    await connection.execute(_LOAD)
    await connection.execute("ANALYZE kv")
    before = await connection.fetchval(_SCANS)
    engine = await open_postgres(postgres_url)
    for _ in range(CALLS):
        assert len((await engine.kv.list_due("sub:", before_ms=2, limit=100)).entries) == DUE
    await engine.close()  # a connection tells its counts when it ends, if not before

    async def have_all_been_counted() -> bool:
        return bool(await connection.fetchval(_SCANS) >= before + CALLS)

    await eventually(have_all_been_counted, what=f"{CALLS} reads by the due index")
