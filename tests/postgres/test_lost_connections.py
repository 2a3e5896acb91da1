"""A connection that is lost in the middle of a commit: the caller gets the true answer, and the commit happens once or not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import asyncpg
import pytest

from vskill_platform.domain.errors import CommitUnknown, Conflict, StoreUnavailable
from vskill_platform.domain.ids import MessageId
from vskill_platform.engines.postgres import PostgresEngine, open_postgres
from vskill_platform.ports.commit import ABSENT, Add, Emit, Put, Send
from vskill_platform.testing.postgres_server import PostgresServer, until_blocked
from vskill_platform.testing.tcp_proxy import TcpProxy, tcp_proxy
from vskill_platform.testing.waits import eventually

KEYS_LOCKED = "SELECT pg_advisory_xact_lock(0)"


@pytest.fixture
async def proxy(postgres_server: PostgresServer) -> AsyncIterator[TcpProxy]:
    async with tcp_proxy(postgres_server.port) as proxy:
        yield proxy


def through(proxy: TcpProxy, url: str, port: int) -> str:
    return url.replace(f":{port}/", f":{proxy.port}/")


@pytest.fixture
async def engine(postgres_url: str, proxy: TcpProxy, postgres_server: PostgresServer) -> AsyncIterator[PostgresEngine]:
    url = through(proxy, postgres_url, postgres_server.port)
    opened = await open_postgres(url, lanes=1, lookup_limit_s=3, look_every_s=3600)
    await connect_lane(opened)
    yield opened
    proxy.is_refusing = False
    for way in (proxy.to_server, proxy.to_client):
        way.cut_after = None
        way.resume()
    await opened.close()


async def connect_lane(engine: PostgresEngine) -> None:
    """A lane that lost its connection makes a new one with the next commit."""
    await engine.writes.commit([Put("first", b"")])


async def counted(engine: PostgresEngine) -> tuple[bytes | None, int]:
    """What the counter says, and how many events there are."""
    entry = await engine.kv.get("counter")
    return entry and entry.value, len((await engine.events.read(0)).events)


@pytest.mark.parametrize("way", ["to_server", "to_client"])
async def test_commit_answers_truly_and_happens_once__when_cut_at_any_point(
    engine: PostgresEngine, proxy: TcpProxy, way: str
) -> None:
    direction = getattr(proxy, way)
    step = 41 if way == "to_server" else 13
    for position in range(40):
        await connect_lane(engine)
        direction.cut_after = direction.passed + position * step
        committed = await engine.writes.commit([Add("counter", {"n": 1}), Emit("kind", f"{position}", b"")])
        direction.cut_after = None
        entry = await engine.kv.get("counter")
        assert entry is not None
        assert entry.version == committed.version
        assert await counted(engine) == (f'{{"n":{position + 1}}}'.encode(), position + 1)
    assert proxy.cuts > 10


async def test_refusal_is_answered_truly__when_cut_on_the_way_back(engine: PostgresEngine, proxy: TcpProxy) -> None:
    for position in range(0, 200, 20):
        await connect_lane(engine)
        proxy.to_client.cut_after = proxy.to_client.passed + position
        with pytest.raises(Conflict):
            await engine.writes.commit([Put("first", b"", if_version=ABSENT), Emit("kind", "never", b"")])
        proxy.to_client.cut_after = None
    assert (await counted(engine))[1] == 0


async def test_messages_reach_whoever_pulled_them__when_cut_on_the_way_back(
    engine: PostgresEngine, proxy: TcpProxy
) -> None:
    await engine.writes.commit([Send("q", MessageId(f"m{n}"), f"body {n}".encode()) for n in range(20)])
    pulled = []
    for position in range(20):
        await connect_lane(engine)
        proxy.to_client.cut_after = proxy.to_client.passed + position * 40
        pulled += await engine.queue.receive("q", max_messages=1, lease_s=60)
        proxy.to_client.cut_after = None
    assert [(message.id, message.body, message.attempts) for message in pulled] == [
        (f"m{n}", f"body {n}".encode(), 1) for n in range(20)
    ]
    assert await engine.queue.extend([message.lease for message in pulled], lease_s=60) == [True] * 20


async def test_commit_is_not_carried_out_late__when_the_server_was_still_at_it(
    engine: PostgresEngine, proxy: TcpProxy, postgres_url: str
) -> None:
    """The old transaction waits for a lock while its outcome is looked up; it must not go through after the answer."""
    holder = await asyncpg.connect(postgres_url)
    async with holder.transaction():
        await holder.execute(KEYS_LOCKED)
        caller = asyncio.create_task(engine.writes.commit([Add("counter", {"n": 1})]))
        await until_blocked(holder)
        proxy.cut_all()
        # The answer to the look-up is "no"; the commit is tried again and now waits, too.
        await until_blocked(holder, count=2)
    await caller
    await holder.close()
    entry = await engine.kv.get("counter")
    assert entry is not None
    assert entry.value == b'{"n":1}'


async def test_commit_is_unknown__when_the_outcome_cannot_be_looked_up(
    engine: PostgresEngine, proxy: TcpProxy, postgres_url: str
) -> None:
    engine.writer.lanes[0]._lookup_limit_s = 0.2
    proxy.to_client.stall()
    caller = asyncio.create_task(engine.writes.commit([Put("a", b"1")]))
    checker = await asyncpg.connect(postgres_url)
    await eventually(lambda: _is_written(checker, "a"), what="the commit is carried out")
    proxy.is_refusing = True
    proxy.cut_all()
    with pytest.raises(CommitUnknown):
        await caller
    await checker.close()


async def test_commit_is_refused_and_goes_through_later__when_the_database_is_away(
    engine: PostgresEngine, proxy: TcpProxy
) -> None:
    proxy.is_refusing = True
    proxy.cut_all()
    await asyncio.sleep(0)
    with pytest.raises((StoreUnavailable, CommitUnknown)):
        await engine.writes.commit([Put("a", b"1")])
    with pytest.raises(StoreUnavailable):
        await engine.writes.commit([Put("a", b"2")])
    with pytest.raises(StoreUnavailable):
        await engine.kv.get("a")
    proxy.is_refusing = False
    await engine.writes.commit([Put("a", b"3")])
    entry = await engine.kv.get("a")
    assert entry is not None
    assert entry.value == b"3"


async def _is_written(connection: asyncpg.Connection, key: str) -> bool:
    return bool(await connection.fetchval("SELECT count(*) FROM vskill.kv WHERE key = $1", key))


async def test_looking_a_batch_up_says_that_it_never_happened__however_often_it_is_asked(
    connection: asyncpg.Connection,
) -> None:
    lane = uuid4()
    await connection.execute("INSERT INTO lane (id, batch, at_ms) VALUES ($1, 0, moment(NULL))", lane)
    answers = [await connection.fetchrow("SELECT * FROM recover_batch($1, 1)", lane) for _ in range(2)]
    assert [answer["committed"] for answer in answers] == [False, False]
