"""Sending: only to addresses that were checked, under the right name, within limits of time and size."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from vskill_platform.domain.errors import AddressForbidden
from vskill_platform.notify.sending import EXCERPT_CHARACTERS, Sender, Sent
from vskill_platform.notify.webhooks import check_url
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.settings import convert_settings
from vskill_platform.testing.certificates import make_certificate
from vskill_platform.testing.hostile_servers import answer, canary, hostile_server, redirect, silence
from vskill_platform.worker_context import run_with_worker_env

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
LOOPBACK = {"webhook_protocols": "http,https", "webhook_private_addresses": True, "webhook_time_limit_s": 2.0}
STRICT = {"webhook_protocols": "http,https", "webhook_time_limit_s": 2.0}


def answering(*turns: Sequence[str]) -> Resolver:
    """A name server that gives each of these answers in turn, and the last for ever."""
    left = list(turns)

    async def resolve(host: str, port: int) -> Sequence[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return resolve


@asynccontextmanager
async def sender(settings: dict[str, object], resolve: Resolver | None = None) -> AsyncIterator[Sender]:
    opened = Sender(convert_settings(settings), resolve=resolve)
    try:
        yield opened
    finally:
        await opened.close()


async def send(url: str, settings: dict[str, object], resolve: Resolver | None = None) -> Sent:
    async with sender(settings, resolve) as opened:
        return await opened.send(url, body=b"{}", headers={"webhook-id": "evt_1"})


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.0.0.8"],
        ["169.254.169.254"],
        ["192.168.1.1"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["fd00::1"],
        ["93.184.216.34", "127.0.0.1"],
    ],
    ids="+".join,
)
async def test_webhook_is_refused_and_nobody_is_asked__when_a_name_leads_inside(addresses: list[str]) -> None:
    async with canary() as inside:
        sent = await send(f"http://hooks.example.com:{inside.port}/", STRICT, answering(addresses))
        assert "not public" in sent.error
        assert (sent.status, inside.connections) == (None, 0)


async def test_webhook_goes_to_the_address_that_was_checked__when_the_name_changes_meanwhile() -> None:
    """The second look-up of a rebinding name would lead to the canary; there is no second look-up."""
    async with canary(host="127.0.0.2") as inside, hostile_server(answer(200), port=0) as receiver:
        rebinding = answering(["127.0.0.1"], ["127.0.0.2"])
        sent = await send(f"http://hooks.example.com:{receiver.port}/in", LOOPBACK, rebinding)
        assert (sent.status, inside.connections) == (200, 0)
        head = receiver.requests[0].decode().lower()
        assert f"host: hooks.example.com:{receiver.port}" in head
        assert head.startswith("post /in http/1.1")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/",
        "http://[::1]:9/",
        "http://169.254.169.254/latest",
        "ftp://hooks.example.com/",
        "http://user:pass@hooks.example.com/",
        "http://0x7f000001/",
        "http://hooks.example.com:25/",
        "http://hooks.example.com/a b",
        "http://hooks.example.com/?q=<x>",
        "http://hooks.example.com/#part",
        "hooks.example.com",
    ],
)
async def test_address_is_refused_at_once__when_nothing_may_be_sent_there(env: WorkerEnv, url: str) -> None:
    strict = replace(env, settings=convert_settings(STRICT))

    async def check() -> str:
        return check_url(url)

    with pytest.raises(AddressForbidden):
        await run_with_worker_env(strict, check)


async def test_address_without_encryption_is_refused__unless_the_operator_allows_it(env: WorkerEnv) -> None:
    usual = replace(env, settings=convert_settings({}))

    async def check(url: str) -> str:
        return check_url(url)

    assert await run_with_worker_env(usual, lambda: check("https://hooks.example.com?a=b")) == (
        "https://hooks.example.com/?a=b"
    )
    with pytest.raises(AddressForbidden, match="this registry uses https"):
        await run_with_worker_env(usual, lambda: check("http://hooks.example.com/"))


async def test_redirect_is_told_and_not_followed() -> None:
    async with canary() as inside, hostile_server(redirect(f"http://127.0.0.1:{inside.port}/")) as receiver:
        sent = await send(f"http://127.0.0.1:{receiver.port}/", LOOPBACK)
        assert (sent.status, inside.connections) == (301, 0)


async def test_receiver_that_says_nothing_is_given_up__after_the_time_limit() -> None:
    async with hostile_server(silence()) as receiver:
        sent = await send(f"http://127.0.0.1:{receiver.port}/", {**LOOPBACK, "webhook_time_limit_s": 0.2})
    assert (sent.status, sent.error) == (None, "There was no whole answer within 0.2 s.")


async def test_receiver_that_never_ends_is_read_no_further_than_the_excerpt() -> None:
    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"1000\r\n" + b"x" * 4096 + b"\r\n")
            await writer.drain()

    async with hostile_server(endless) as receiver:
        sent = await send(f"http://127.0.0.1:{receiver.port}/", LOOPBACK)
    assert (sent.status, len(sent.excerpt)) == (200, EXCERPT_CHARACTERS)


async def test_compressed_answer_is_not_unpacked() -> None:
    packed = bytes.fromhex("1f8b08000000000000034b4c4a0600c241243503000000")
    behaviour = answer(200, head=b"Content-Encoding: gzip\r\n", body=packed)
    async with hostile_server(behaviour) as receiver:
        sent = await send(f"http://127.0.0.1:{receiver.port}/", LOOPBACK)
    assert sent.excerpt.startswith("\\x1f")


async def test_next_address_is_tried__when_the_first_takes_no_connection() -> None:
    async with hostile_server(answer(200)) as receiver:
        url = f"http://hooks.example.com:{receiver.port}/"
        sent = await send(url, LOOPBACK, answering(["127.0.0.9", "127.0.0.1"]))
    assert sent.status == 200


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for hooks.example.com and its key in one file."""
    return make_certificate(tmp_path_factory.mktemp("certificate"), "DNS:hooks.example.com")


async def test_certificate_is_held_to_the_name__though_the_connection_goes_to_an_address(certificate: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    trusting = {**LOOPBACK, "webhook_ca_file": str(certificate)}
    async with hostile_server(answer(200), tls=context) as receiver:
        right = await send(f"https://hooks.example.com:{receiver.port}/", trusting, answering(["127.0.0.1"]))
        wrong = await send(f"https://other.example.com:{receiver.port}/", trusting, answering(["127.0.0.1"]))
        unknown = await send(f"https://hooks.example.com:{receiver.port}/", LOOPBACK, answering(["127.0.0.1"]))
    assert right.status == 200
    assert (wrong.status, unknown.status) == (None, None)
    assert "certificate" in wrong.error.lower()
    assert "certificate" in unknown.error.lower()
