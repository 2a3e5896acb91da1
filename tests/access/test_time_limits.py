"""Requests that do not arrive and answers that do not come, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from litestar import get, post
from litestar.params import JSONBody
from litestar.response import Stream

from vskill_platform.app.arriving import MAX_HEAD_BYTES
from vskill_platform.app.listening import Listening, listen_for, open_listener
from vskill_platform.domain.access import Permission
from vskill_platform.engines.memory import open_memory
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.waits import LIMIT_S
from vskill_platform.web.access import ACCESS, ANYONE, needs
from vskill_platform.web.application import create_app
from vskill_platform.web.surface.rate_limits import RequestLimiter

SHORT_S = 0.3
HEAD = b"POST /echo HTTP/1.1\r\nHost: registry\r\nContent-Type: application/json\r\nContent-Length: 20\r\n"


@get("/hangs", opt={ACCESS: ANYONE})
async def hang() -> str:
    await asyncio.Event().wait()
    return "never"


@get("/streams", opt={ACCESS: ANYONE})
async def stream() -> Stream:
    async def pieces() -> AsyncIterator[str]:
        yield "begun"
        await asyncio.sleep(6 * SHORT_S)
        yield ", ended"

    return Stream(pieces())


@post("/echo", opt={ACCESS: ANYONE}, status_code=200)
async def echo(data: JSONBody[dict[str, str]]) -> dict[str, str]:
    return data


@post("/closed", opt={ACCESS: needs(Permission.REVIEW)})
async def closed(data: JSONBody[dict[str, str]]) -> dict[str, str]:
    return data


@pytest.fixture
async def listening(tmp_path: Path) -> AsyncIterator[Listening]:
    clock = FakeClock()
    engine = await open_memory(clock=clock)
    env = make_env(engine, clock=clock, folder=tmp_path, arrival_time_limit_s=SHORT_S, answer_time_limit_s=3 * SHORT_S)
    limiter = RequestLimiter(clock, env.settings)
    app = create_app(env, [hang, stream, echo, closed], state={}, limiter=limiter)
    opened = listen_for(app, open_listener("127.0.0.1", 0), settings=env.settings)
    serving = asyncio.create_task(opened.serve())
    yield opened
    opened.stop()
    await serving
    await engine.close()


@pytest.fixture
def port(listening: Listening) -> int:
    return int(listening.listener.getsockname()[1])


async def hear(port: int, *sent: bytes) -> bytes:
    """All that the server says until it closes, to a client that sends this and then neither sends nor leaves."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for piece in sent:
        writer.write(piece)
        await writer.drain()
    async with asyncio.timeout(LIMIT_S):
        heard = await reader.read(-1)
    writer.close()
    return heard


def status_of(heard: bytes) -> int:
    return int(heard.split(b" ", 2)[1])


async def test_answer_that_does_not_come_is_told_as_that(port: int) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        given_up = await client.get("/hangs")
        assert (given_up.status_code, given_up.json()["code"]) == (503, "answer_too_slow")
        assert int(given_up.headers["Retry-After"]) > 0
        assert (await client.post("/echo", json={"a": "b"})).json() == {"a": "b"}


async def test_stream_that_has_begun_goes_on__for_longer_than_an_answer_may_take(port: int) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        assert (await client.get("/streams")).text == "begun, ended"


async def test_client_that_says_nothing_is_cut_off(port: int) -> None:
    assert await hear(port) == b""


async def test_client_that_trickles_its_head_is_cut_off(port: int) -> None:
    assert status_of(await hear(port, b"GET / HT")) == 408
    assert status_of(await hear(port, HEAD)) == 408


async def test_client_that_trickles_its_second_head_is_cut_off(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(LIMIT_S):
        writer.write(HEAD + b'\r\n{"a": "bcdefghijkl"}')
        assert status_of(await reader.readuntil(b'"bcdefghijkl"}')) == 200
        writer.write(b"POST /ec")
        assert status_of(await reader.read(-1)) == 408
    writer.close()


async def test_client_that_trickles_its_body_is_cut_off(port: int) -> None:
    heard = await hear(port, HEAD + b"\r\n", b'{"a"')
    assert status_of(heard) == 408
    assert b"request_too_slow" in heard
    assert b"connection: close" in heard.lower()


async def test_client_is_cut_off__when_it_does_not_end_the_body_of_a_request_that_was_refused(port: int) -> None:
    heard = await hear(port, HEAD.replace(b"/echo", b"/closed") + b"\r\n", b'{"a"')
    assert status_of(heard) == 401
    assert heard.count(b"HTTP/1.1") == 1


async def test_head_without_end_is_refused__and_so_is_one_that_is_too_large(port: int) -> None:
    line = b"X-Filler: " + b"x" * 1000 + b"\r\n"
    lines = line * (MAX_HEAD_BYTES // len(line) + 2)
    assert status_of(await hear(port, HEAD + lines)) == 431
    assert status_of(await hear(port, HEAD + lines + b"\r\n")) == 431
    fitting = line * (MAX_HEAD_BYTES // len(line) - 2)
    assert status_of(await hear(port, HEAD + fitting + b'Connection: close\r\n\r\n{"a": "bcdefghijkl"}')) == 200


async def test_what_is_no_http_is_refused(port: int) -> None:
    assert status_of(await hear(port, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")) == 400
