"""A server that stops: whoever is connected by then is answered, and whoever comes later never gets in."""

from __future__ import annotations

import asyncio
import socket
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from litestar.types import Receive, Scope, Send

from vskill_platform.app.listening import serving

CLIENTS = 16
ROUNDS = 6
_REQUEST = b"POST / HTTP/1.1\r\nHost: registry\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers each request, and keeps the event loop busy for a moment, so that a line forms."""
    time.sleep(0.002)
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")], "trailers": False}
    )
    await send({"type": "http.response.body", "body": b"ok", "more_body": False})


def ask_until_refused(address: str) -> Counter[str]:
    """Requests on connections of their own, until no connection is to be had. Says what became of each."""
    place, outcomes = urlsplit(address), Counter[str]()
    while True:
        try:
            client = socket.create_connection((place.hostname or "", place.port or 0), timeout=0.5)
        except (ConnectionRefusedError, TimeoutError, ConnectionResetError):
            return outcomes
        with client:
            client.settimeout(20)
            outcomes[_ask(client)] += 1


def _ask(client: socket.socket) -> str:
    try:
        client.sendall(_REQUEST)
        whole = b"".join(iter(lambda: client.recv(4096), b""))
    except OSError as error:
        return type(error).__name__
    return "answered" if whole.endswith(b"ok") else "empty"


async def test_server_that_stops_answers_everybody_who_got_in() -> None:
    total: Counter[str] = Counter()
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(CLIENTS) as pool:
        for _ in range(ROUNDS):
            async with serving(answer) as address:
                asking = [loop.run_in_executor(pool, ask_until_refused, address) for _ in range(CLIENTS)]
                await asyncio.sleep(0.2)
            for outcomes in await asyncio.gather(*asking):
                total += outcomes
    assert set(total) == {"answered"}, total
