"""The proxy that git speaks through: who may pass, to where, for how many bytes and for how long."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Sequence

import pytest

from vskill_platform.ingest.limits import ProxyLimits
from vskill_platform.ingest.passage import Passage, Refusal
from vskill_platform.ingest.proxy import FetchProxy
from vskill_platform.ingest.public_addresses import judge_any
from vskill_platform.ingest.url_guard import RepositoryAddress
from vskill_platform.testing.hostile_servers import HostileServer, answer, canary, hostile_server

LIMITS = ProxyLimits(resolve_s=5, connect_s=5, head_s=5, idle_s=5)


async def to_loopback(host: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


@pytest.fixture
async def proxy() -> AsyncIterator[FetchProxy]:
    opened = FetchProxy(limits=LIMITS, resolve=to_loopback, judge=judge_any)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def origin() -> AsyncIterator[HostileServer]:
    """Answers a request in the clear, as any web server does; a tunnel to it carries just that."""
    async with hostile_server(answer(200, body=b"hello")) as server:
        yield server


def at(port: int, *, scheme: str = "https") -> RepositoryAddress:
    return RepositoryAddress(scheme, "git.example", port, "/o/n")


def credentials(passage: Passage, *, secret: str | None = None) -> str:
    given = f"{passage.name}:{passage.secret if secret is None else secret}"
    return f"Proxy-Authorization: Basic {base64.b64encode(given.encode()).decode()}\r\n"


async def say(proxy: FetchProxy, *words: str) -> bytes:
    """Everything the proxy answers to these words on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    try:
        writer.write("".join(words).encode())
        async with asyncio.timeout(10):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


GET = "GET /o/n HTTP/1.1\r\nHost: git.example\r\n\r\n"


async def test_proxy_tunnels__to_the_host_of_the_passage(proxy: FetchProxy, origin: HostileServer) -> None:
    async with proxy.passage(at(origin.port), max_bytes=10_000) as passage:
        connect = f"CONNECT git.example:{origin.port} HTTP/1.1\r\n{credentials(passage)}\r\n"
        answered = await say(proxy, connect, GET)
    assert answered.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 Answer")
    assert answered.endswith(b"hello")
    assert passage.refusal is None
    assert passage.spent_bytes == len(GET) + len(answered) - len(b"HTTP/1.1 200 Connection established\r\n\r\n")


async def test_proxy_forwards_plain_http__without_its_own_credentials(proxy: FetchProxy, origin: HostileServer) -> None:
    async with proxy.passage(at(origin.port, scheme="http"), max_bytes=10_000) as passage:
        request = (
            f"GET http://git.example:{origin.port}/o/n?x HTTP/1.1\r\nHost: git.example:{origin.port}\r\n"
            f"{credentials(passage)}Proxy-Connection: Keep-Alive\r\nAccept: a\r\n\r\n"
        )
        answered = await say(proxy, request)
    assert answered.endswith(b"Connection: close\r\n\r\nhello")
    assert passage.spent_bytes == len(origin.requests[0]) + len(answered)
    assert origin.requests == [
        b"GET /o/n?x HTTP/1.1\r\nHost: git.example:%d\r\nAccept: a\r\nConnection: close\r\n\r\n" % origin.port
    ]


@pytest.mark.parametrize(
    "authorization",
    ["", "Proxy-Authorization: Basic !\r\n", "Proxy-Authorization: Basic /////w==\r\n", "Proxy-Authorization: Bearer x\r\n",
     "Proxy-Authorization: Basic eDp5\r\n", "Authorization: Basic eDp5\r\n"],
)  # fmt: skip
async def test_proxy_wants_the_secret_of_a_passage(
    proxy: FetchProxy, origin: HostileServer, authorization: str
) -> None:
    async with proxy.passage(at(origin.port), max_bytes=10_000) as passage:
        connect = f"CONNECT git.example:{origin.port} HTTP/1.1\r\n"
        assert (await say(proxy, connect, authorization, "\r\n", GET)).startswith(b"HTTP/1.1 407 ")
        wrong = credentials(passage, secret=passage.secret[:-1])
        assert (await say(proxy, connect, wrong, "\r\n", GET)).startswith(b"HTTP/1.1 407 ")
    assert origin.connections == 0


async def test_proxy_forgets_a_passage__when_its_block_ends(proxy: FetchProxy, origin: HostileServer) -> None:
    async with proxy.passage(at(origin.port), max_bytes=10_000) as passage:
        pass
    connect = f"CONNECT git.example:{origin.port} HTTP/1.1\r\n{credentials(passage)}\r\n"
    assert (await say(proxy, connect, GET)).startswith(b"HTTP/1.1 407 ")
    assert origin.connections == 0


@pytest.mark.parametrize(
    ("scheme", "line"),
    [
        ("https", "CONNECT 127.0.0.1:{other} HTTP/1.1"),
        ("https", "CONNECT git.example:{other} HTTP/1.1"),
        ("https", "CONNECT other.example:{port} HTTP/1.1"),
        ("https", "CONNECT git.example:{port}:{other} HTTP/1.1"),
        ("https", "GET http://git.example:{port}/ HTTP/1.1"),
        ("https", "GET / HTTP/1.1"),
        ("http", "CONNECT git.example:{port} HTTP/1.1"),
        ("http", "GET http://git.example:{other}/ HTTP/1.1"),
        ("http", "GET http://git.example:{port}@127.0.0.1:{other}/ HTTP/1.1"),
        ("http", "GET http://git.example:{port}.evil.example/ HTTP/1.1"),
        ("http", "GET https://git.example:{port}/ HTTP/1.1"),
        ("http", "GET file:///etc/passwd HTTP/1.1"),
    ],
)
async def test_proxy_reaches_nothing_else(proxy: FetchProxy, origin: HostileServer, scheme: str, line: str) -> None:
    async with canary() as other, proxy.passage(at(origin.port, scheme=scheme), max_bytes=10_000) as passage:
        first = line.format(port=origin.port, other=other.port)
        answered = await say(proxy, f"{first}\r\n{credentials(passage)}\r\n", GET)
        assert answered.startswith(b"HTTP/1.1 403 ")
        assert (origin.connections, other.connections) == (0, 0)
        assert passage.refusal is Refusal.FORBIDDEN


async def test_proxy_cuts_a_passage__that_has_spent_its_bytes(proxy: FetchProxy) -> None:
    async with (
        hostile_server(answer(200, body=b"x" * 5_000_000)) as origin,
        proxy.passage(at(origin.port), max_bytes=1_000_000) as passage,
    ):
        connect = f"CONNECT git.example:{origin.port} HTTP/1.1\r\n{credentials(passage)}\r\n"
        assert len(await say(proxy, connect, GET)) < 1_100_000
        assert passage.refusal is Refusal.OVER_BUDGET
        assert len(await say(proxy, connect, GET)) < 100


async def test_proxy_counts_the_bytes_that_git_sends(proxy: FetchProxy, origin: HostileServer) -> None:
    async with proxy.passage(at(origin.port), max_bytes=100_000) as passage:
        connect = f"CONNECT git.example:{origin.port} HTTP/1.1\r\n{credentials(passage)}\r\n"
        assert b"hello" not in await say(proxy, connect, "X" * 200_000)
        assert passage.refusal is Refusal.OVER_BUDGET


@pytest.mark.parametrize("words", ["", "GET / HTTP/1.1\r\n"], ids=["from the start", "any more"])
async def test_proxy_gives_up_on_a_tunnel__where_nothing_moves(words: str) -> None:
    proxy = FetchProxy(limits=LIMITS._replace(idle_s=0.2), resolve=to_loopback, judge=judge_any)
    await proxy.open()
    async with hostile_server(answer(200)) as origin, proxy.passage(at(origin.port), max_bytes=10_000) as passage:
        connect = f"CONNECT git.example:{origin.port} HTTP/1.1\r\n{credentials(passage)}\r\n"
        await say(proxy, connect, words)
        assert passage.refusal is Refusal.IDLE
    await proxy.close()


async def test_proxy_gives_up_on_a_client__that_does_not_finish_its_request() -> None:
    proxy = FetchProxy(limits=LIMITS._replace(head_s=0.2), resolve=to_loopback, judge=judge_any)
    await proxy.open()
    assert await say(proxy, "CONNECT git.exa") == b""
    await proxy.close()


@pytest.mark.parametrize(
    "words",
    ["\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\nbroken\r\n\r\n", "GET / HTTP/1.1\r\nX: " + "x" * 200_000 + "\r\n\r\n",
     "G\0T / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n X: folded\r\n\r\n"],
)  # fmt: skip
async def test_proxy_hangs_up_on_what_is_no_request(proxy: FetchProxy, words: str) -> None:
    assert await say(proxy, words) == b""


async def test_proxy_says_that_a_connection_failed(proxy: FetchProxy, origin: HostileServer) -> None:
    async with hostile_server(answer(200)) as gone:
        port = gone.port
    async with proxy.passage(at(port), max_bytes=10_000) as passage:
        connect = f"CONNECT git.example:{port} HTTP/1.1\r\n{credentials(passage)}\r\n"
        assert (await say(proxy, connect)).startswith(b"HTTP/1.1 502 ")
        assert passage.refusal is Refusal.CONNECT_FAILED


async def test_proxy_tries_the_next_address__when_one_does_not_answer(origin: HostileServer) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.9", "127.0.0.1"]

    proxy = FetchProxy(limits=LIMITS, resolve=resolve, judge=judge_any)
    await proxy.open()
    async with proxy.passage(at(origin.port), max_bytes=10_000) as passage:
        connect = f"CONNECT git.example:{origin.port} HTTP/1.1\r\n{credentials(passage)}\r\n"
        assert (await say(proxy, connect, GET)).endswith(b"hello")
    await proxy.close()


async def test_proxy_cuts_what_is_still_connected__when_the_passage_ends(proxy: FetchProxy) -> None:
    waiting = asyncio.Event()

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        waiting.set()
        await reader.read()

    async with hostile_server(behave) as origin:
        async with proxy.passage(at(origin.port), max_bytes=10_000) as passage:
            connect = f"CONNECT git.example:{origin.port} HTTP/1.1\r\n{credentials(passage)}\r\n"
            task = asyncio.create_task(say(proxy, connect, GET))
            async with asyncio.timeout(10):
                await waiting.wait()
        assert not passage.connections
        assert await task == b"HTTP/1.1 200 Connection established\r\n\r\n"


async def test_proxy_keeps_many_passages_apart(proxy: FetchProxy) -> None:
    async def one(number: int) -> bytes:
        body = b"%d" % number * 1000
        async with (
            hostile_server(answer(200, body=body)) as origin,
            proxy.passage(at(origin.port), max_bytes=100_000) as passage,
        ):
            connect = f"CONNECT git.example:{origin.port} HTTP/1.1\r\n{credentials(passage)}\r\n"
            return (await say(proxy, connect, GET)).rpartition(b"\r\n\r\n")[2]

    assert await asyncio.gather(*map(one, range(40))) == [b"%d" % number * 1000 for number in range(40)]
