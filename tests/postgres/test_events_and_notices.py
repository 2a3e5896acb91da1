"""What several processes on one database see of each other: events in their order, wake-ups, and the database's time."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from tests.postgres.by_hand import held_open
from vskill_platform.domain.errors import LeaseLost
from vskill_platform.domain.ids import MessageId
from vskill_platform.engines.postgres import PostgresEngine, open_postgres
from vskill_platform.ports.commit import Ack, Emit, Put, Send
from vskill_platform.testing.postgres_server import until_blocked
from vskill_platform.testing.waits import LIMIT_S, eventually

LISTENERS = """
SELECT pid FROM pg_stat_activity WHERE application_name = 'listening' AND query LIKE 'LISTEN%'
"""


async def test_no_lower_event_appears_later__under_a_slow_open_transaction(
    engines: list[PostgresEngine], connection: asyncpg.Connection
) -> None:
    first, second = engines
    async with held_open(connection, Emit("kind", "slow", b"")):
        others = [asyncio.create_task(engine.writes.commit([Emit("kind", "fast", b"")])) for engine in engines]
        await until_blocked(connection, count=2)
        await first.writes.commit([Put("no event", b"")])  # what has no event does not wait
        seen_before = (await second.events.read(0)).events
    await asyncio.gather(*others)
    seen_after = (await second.events.read(0)).events
    assert seen_after[: len(seen_before)] == seen_before
    assert [event.subject for event in seen_after] == ["slow", "fast", "fast"]


async def test_readers_see_one_order_without_gaps_closing__while_many_write(engines: list[PostgresEngine]) -> None:
    first, second = engines
    told: list[int] = []

    async def follow() -> None:
        after = 0
        while len(told) < 200:
            page = await second.events.read(after, wait_s=LIMIT_S)
            told.extend(event.sequence for event in page.events)
            after = page.last

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
        group.create_task(follow())
        for number in range(100):
            for engine in engines:
                group.create_task(engine.writes.commit([Emit("kind", f"{number}", b""), Put(f"k{number % 7}", b"")]))
    everything = (await first.events.read(0)).events
    assert told == [event.sequence for event in everything]


async def test_waiting_reader_and_receiver_wake__by_a_commit_of_another_process(engines: list[PostgresEngine]) -> None:
    first, second = engines
    async with asyncio.timeout(LIMIT_S):
        reading = asyncio.create_task(second.events.read(0, wait_s=600))
        receiving = asyncio.create_task(second.queue.receive("q", max_messages=1, lease_s=60, wait_s=600))
        await asyncio.sleep(0.1)  # either order must work; this one is the usual
        await first.writes.commit([Emit("kind", "told", b""), Send("q", MessageId("m"), b"")])
        assert [event.subject for event in (await reading).events] == ["told"]
        assert [message.id for message in await receiving] == ["m"]


async def test_waiting_reader_wakes__when_the_listening_connection_was_lost(
    engines: list[PostgresEngine], connection: asyncpg.Connection
) -> None:
    first, second = engines
    await eventually(lambda: _has_listeners(connection, 2), what="both listen")
    reading = asyncio.create_task(second.events.read(0, wait_s=600))
    await asyncio.sleep(0.1)
    for (pid,) in await connection.fetch(LISTENERS):
        await connection.execute("SELECT pg_terminate_backend($1)", pid)
    await first.writes.commit([Emit("kind", "told to nobody", b"")])
    async with asyncio.timeout(LIMIT_S):
        assert [event.subject for event in (await reading).events] == ["told to nobody"]


async def _has_listeners(connection: asyncpg.Connection, count: int) -> bool:
    return len(await connection.fetch(LISTENERS)) == count


async def test_leases_go_by_the_database_s_time__whatever_the_process_s_clock_says(
    postgres_url: str, engines: list[PostgresEngine], connection: asyncpg.Connection
) -> None:
    first, _ = engines
    await first.writes.commit([Send("q", MessageId("m"), b""), Put("k", b"", ttl_s=60)])
    (held,) = await first.queue.receive("q", max_messages=1, lease_s=60)
    database = await connection.fetchval("SELECT current_database()")
    await connection.execute(f"ALTER DATABASE {database} SET vskill.clock_offset_ms = 61000")
    later = await open_postgres(postgres_url)  # a connection takes the setting when it is made
    try:
        (again,) = await later.queue.receive("q", max_messages=1, lease_s=60)
        assert (again.is_suspect, again.attempts) == (True, 2)
        assert await later.kv.get("k") is None
        with pytest.raises(LeaseLost):
            await first.writes.commit([Ack(held.lease)])
    finally:
        await later.close()
        await connection.execute(f"ALTER DATABASE {database} RESET vskill.clock_offset_ms")
