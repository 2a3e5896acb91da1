"""Rate limits that several processes share."""

from __future__ import annotations

import asyncio

import asyncpg

from vskill_platform.engines.postgres import open_postgres
from vskill_platform.testing.clock import FakeClock


async def test_takes_of_two_engines_allow_exactly_the_limit__together(postgres_url: str) -> None:
    one, other = await asyncio.gather(open_postgres(postgres_url), open_postgres(postgres_url))
    try:
        takes = [engine.limiter.take("address", limit=30, window_s=60) for engine in (one, other) for _ in range(50)]
        answers = await asyncio.gather(*takes)
    finally:
        await asyncio.gather(one.close(), other.close())
    assert sum(answer.allowed for answer in answers) == 30


async def test_purge_forgets_takes_that_count_no_more__and_no_others(postgres_url: str) -> None:
    clock = FakeClock()
    engine = await open_postgres(postgres_url, clock=clock, uses_database_time=False)
    connection = await asyncpg.connect(postgres_url)
    try:
        await engine.limiter.take("short", limit=1, window_s=1)
        await engine.limiter.take("long", limit=1, window_s=60)
        await clock.advance(1)
        await engine.writes.purge()
        assert [key for (key,) in await connection.fetch("SELECT key FROM vskill.taken")] == ["long"]
        assert not (await engine.limiter.take("long", limit=1, window_s=60)).allowed
    finally:
        await connection.close()
        await engine.close()
