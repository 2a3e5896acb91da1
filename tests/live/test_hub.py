"""What streams do to each other, and what becomes of them in trouble: nothing waits for one that is slow."""

from __future__ import annotations

import asyncio
import gc
import re
import socket
import weakref
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.live.happenings import emitted, submitted
from tests.live.stream_client import LIMIT_S, SUBMISSIONS, open_stream
from vskill_platform.app.listening import listen_for, open_listener, serving
from vskill_platform.engines.memory import open_memory
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.clock import FakeClock, run_ready_tasks
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.postgres_server import PostgresServer
from vskill_platform.testing.tcp_proxy import tcp_proxy
from vskill_platform.testing.waits import eventually
from vskill_platform.web.app import create_web_app
from vskill_platform.web.live.hub import KEEPALIVE_S, STALLED_S, Hub
from vskill_platform.web.live.reader import TOO_SLOW
from vskill_platform.web.live.telling import Topic
from vskill_platform.web.live.wanted import Wanted

PADDING = 100_000
"""Bytes of an event so large that a few of them fill what the kernel takes for a client that does not read."""


def open_deaf_stream(address: str) -> socket.socket:
    """A stream whose client asks and then reads nothing, with little room for what comes."""
    place = urlsplit(address)
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect((place.hostname, place.port))
    client.sendall(f"GET {SUBMISSIONS} HTTP/1.1\r\nHost: registry\r\n\r\n".encode())
    return client


async def test_slow_reader_delays_no_other__and_is_cut_off(env: WorkerEnv, address: str, hub: Hub) -> None:
    deaf = open_deaf_stream(address)
    try:
        await eventually(lambda: hub.places.taken == 1, what="the deaf stream is open")
        async with open_stream(address) as stream:
            for start in range(0, 200, 10):
                numbers = list(range(start, start + 10))
                await emitted(env, numbers, padding=PADDING)
                assert [seen.data["run"] for seen in await stream.take(10)] == numbers
        received = await asyncio.to_thread(_read_all, deaf)
        assert received.endswith(TOO_SLOW + b"\r\n0\r\n\r\n")
        assert b'"run":0,' in received
        assert b'"run":199,' not in received
    finally:
        deaf.close()
    await eventually(lambda: hub.places.taken == 0, what="both streams are gone")


def _read_all(client: socket.socket) -> bytes:
    client.settimeout(LIMIT_S)
    parts = []
    while part := client.recv(1 << 20):
        parts.append(part)
    return b"".join(parts)


async def test_streams_end_at_once_with_a_word_on_coming_again__when_the_server_stops(env: WorkerEnv) -> None:
    hub = Hub(env)
    listening = listen_for(create_web_app(env, hub=hub), open_listener("127.0.0.1", 0), settings=env.settings)
    serving = asyncio.create_task(listening.serve())
    address = f"http://127.0.0.1:{listening.listener.getsockname()[1]}"
    async with AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(open_stream(address)) for _ in range(4)]
        hub.stop()
        async with open_stream(address, source="127.0.0.2") as late:
            assert (late.status, await late.until_end()) == (200, [])
        listening.stop()
        for stream in streams:
            assert await stream.until_end() == []
            assert stream.retry_ms is not None
            assert stream.retry_ms < 2000
        async with asyncio.timeout(LIMIT_S):  # less than the grace time of the settings, which would be a hang
            await serving
    assert len({stream.retry_ms for stream in streams}) == 4
    await hub.close()


async def test_stream_is_seen_to_go__and_nothing_of_it_is_kept(env: WorkerEnv, address: str, hub: Hub) -> None:
    async with open_stream(address):
        (reader,) = hub._audience.everybody()
        watched = weakref.ref(reader)
        del reader
    await eventually(lambda: hub.places.taken == 0, what="the client is seen to go")
    await submitted(env)

    def is_freed() -> bool:
        gc.collect()
        return watched() is None

    await eventually(is_freed, what="what was kept for the stream is freed")
    assert hub._audience.everybody() == []


@pytest.mark.parametrize("kind", ["memory", "sqlite"], indirect=True)
async def test_new_streams_are_503_and_open_ones_hear_of_it__when_the_engine_is_gone(
    engine: Engine, address: str
) -> None:
    async with open_stream(address) as stream:
        await engine.close()
        told = await stream.next()
        assert (told.name, told.data["code"], told.id) == ("trouble", "engine_closed", None)
        async with open_stream(address) as second:
            assert (second.status, second.headers["retry-after"]) == (503, "5")


class Line:
    """A client in memory: what was sent to it, and a hang-up of its own."""

    def __init__(self) -> None:
        self.sent = b""
        self.has_hung_up = asyncio.Event()
        self.may_write = asyncio.Event()
        self.may_write.set()

    async def send(self, message: object) -> None:
        await self.may_write.wait()
        self.sent += message["body"]  # type: ignore[index]
        if not message["more_body"]:  # type: ignore[index]
            self.has_hung_up.set()

    async def receive(self) -> dict[str, str]:
        await self.has_hung_up.wait()
        return {"type": "http.disconnect"}


@pytest.fixture
async def clocked(tmp_path: Path) -> AsyncIterator[tuple[WorkerEnv, Hub, FakeClock]]:
    clock = FakeClock()
    engine = await open_memory(clock=clock)
    env = make_env(engine, clock=clock, folder=tmp_path)
    hub = Hub(env)
    await hub.check_readable()
    yield env, hub, clock
    await hub.close()
    await engine.close()


async def test_idle_stream_hears_from_us__and_learns_how_far_it_is(clocked: tuple[WorkerEnv, Hub, FakeClock]) -> None:
    env, hub, clock = clocked
    line = Line()
    wanted = Wanted(Topic.SUBMISSIONS, frozenset({"sub_mine"}))
    serving = asyncio.create_task(hub.serve(wanted, after=None, receive=line.receive, send=line.send))  # type: ignore[arg-type]
    await run_ready_tasks()
    assert line.sent.endswith(b"id: 0\n\n")
    await emitted(env, [1], subject="sub_other")
    await clock.advance(KEEPALIVE_S)
    assert line.sent.endswith(b": here\nid: 1\n\n")
    assert b"sub_other" not in line.sent
    line.has_hung_up.set()
    await serving


async def test_no_stream_misses_an_event__when_its_turn_to_be_kept_alive_comes_in_between(
    clocked: tuple[WorkerEnv, Hub, FakeClock],
) -> None:
    env, hub, clock = clocked
    lines = [Line() for _ in range(200)]
    wanted = Wanted(Topic.SUBMISSIONS)
    async with asyncio.TaskGroup() as group:
        for line in lines:
            group.create_task(hub.serve(wanted, after=None, receive=line.receive, send=line.send))  # type: ignore[arg-type]
        await run_ready_tasks()
        for number in range(60):
            await emitted(env, [number])
            await run_ready_tasks(number % 20)
            await clock.advance(1)
        for line in lines:
            line.has_hung_up.set()
    told = [re.findall(rb'"run":(\d+),', line.sent) for line in lines]
    assert told == [[b"%d" % number for number in range(60)]] * len(lines)


async def test_stream_that_has_read_ahead_in_the_log_is_not_behind__when_the_hub_comes_after_it(
    clocked: tuple[WorkerEnv, Hub, FakeClock],
) -> None:
    env, _, clock = clocked
    hub, line = Hub(env, kept=8), Line()
    await emitted(env, [0])
    await hub.check_readable()
    await emitted(env, [1])
    await run_ready_tasks()  # the hub has read this one, and waits before it reads on
    await emitted(env, range(2, 101))
    wanted = Wanted(Topic.SUBMISSIONS)
    serving = asyncio.create_task(hub.serve(wanted, after=0, receive=line.receive, send=line.send))  # type: ignore[arg-type]
    await run_ready_tasks()
    assert b'"run":100,' in line.sent
    await clock.advance(1)
    await emitted(env, [101])
    await clock.advance(1)
    line.has_hung_up.set()
    await serving
    await hub.close()
    assert re.findall(rb'"run":(\d+),', line.sent) == [b"%d" % number for number in range(102)]


async def test_stream_that_takes_nothing_is_ended(clocked: tuple[WorkerEnv, Hub, FakeClock]) -> None:
    env, hub, clock = clocked
    line = Line()
    wanted = Wanted(Topic.SUBMISSIONS)
    serving = asyncio.create_task(hub.serve(wanted, after=None, receive=line.receive, send=line.send))  # type: ignore[arg-type]
    await run_ready_tasks()
    line.may_write.clear()
    await emitted(env, [1])
    await clock.advance(STALLED_S + 2)
    assert hub._audience.everybody() == []
    line.may_write.set()
    async with asyncio.timeout(LIMIT_S):
        await serving
    assert b'"run":1,' in line.sent


async def test_stream_tells_of_trouble_and_goes_on_without_a_gap__when_the_database_comes_back(
    postgres_server: PostgresServer, postgres_url: str, tmp_path: Path
) -> None:
    near = await open_postgres(postgres_url)
    async with tcp_proxy(postgres_server.port) as proxy:
        far = await open_postgres(postgres_url.replace(f":{postgres_server.port}/", f":{proxy.port}/"))
        hub = Hub(make_env(far, clock=SystemClock(), folder=tmp_path))
        env = make_env(near, clock=SystemClock(), folder=tmp_path)
        async with serving(create_web_app(make_env(far, clock=SystemClock(), folder=tmp_path), hub=hub)) as address:
            async with open_stream(address) as stream:
                await emitted(env, [1])
                assert (await stream.next()).data["run"] == 1
                proxy.is_refusing = True
                proxy.cut_all()
                assert (await stream.next()).name == "trouble"
                async with open_stream(address) as second:
                    assert (second.status, second.headers["retry-after"]) == (503, "5")
                await emitted(env, [2, 3])
                proxy.is_refusing = False
                assert (await stream.next()).name == "recovered"
                assert [seen.data["run"] for seen in await stream.take(2)] == [2, 3]
            hub.stop()
        await hub.close()
        await far.close()
    await near.close()
