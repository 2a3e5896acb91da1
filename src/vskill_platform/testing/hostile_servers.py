"""Servers on loopback that behave badly in one particular way each, and listeners that nobody should ever reach."""

from __future__ import annotations

import asyncio
import itertools
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
ADVERTISEMENT = b"Content-Type: application/x-git-upload-pack-advertisement\r\n"
_CHUNK = b"x" * 65536


class HostileServer:
    """A server with one behaviour. It counts who came and keeps what they asked for."""

    def __init__(self, behave: Behaviour) -> None:
        self._behave = behave
        self.port = 0
        self.connections = 0
        self.requests: list[bytes] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection and hang up."""
        self.connections += 1
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                self.requests.append(await reader.readuntil(b"\r\n\r\n"))
                await self._behave(reader, writer)
        finally:
            writer.close()


@asynccontextmanager
async def hostile_server(
    behave: Behaviour, *, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[HostileServer]:
    """A server that behaves so while the block lasts."""
    hostile = HostileServer(behave)
    tasks: set[asyncio.Task[object]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        await hostile.serve(reader, writer)

    server = await asyncio.start_server(serve, host, port, ssl=tls)
    hostile.port = server.sockets[0].getsockname()[1]
    try:
        yield hostile
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


@asynccontextmanager
async def canary(*, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[HostileServer]:
    """A listener that nobody should reach: look at its `connections`."""
    async with hostile_server(answer(200), host=host, port=port) as listener:
        yield listener


def answer(status: int, *, head: bytes = b"", body: bytes = b"") -> Behaviour:
    """Answers every request with this status, these head lines and this body."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        length = b"Content-Length: %d\r\n" % len(body)
        writer.write(b"HTTP/1.1 %d Answer\r\n" % status + head + length + b"Connection: close\r\n\r\n" + body)
        await writer.drain()

    return behave


def redirect(to: str, *, status: int = 301) -> Behaviour:
    """Sends everybody elsewhere."""
    return answer(status, head=f"Location: {to}\r\n".encode())


def drip(*, every_s: float = 1.0) -> Behaviour:
    """Begins like a git server and then gives one byte at a time, for ever."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n" + ADVERTISEMENT + b"\r\n")
        for byte in itertools.cycle(b"001e# service=git-upload-pack\n0000"):
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(every_s)

    return behave


def silence() -> Behaviour:
    """Takes the request and never answers."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    return behave


def endless_body() -> Behaviour:
    """Sends refs without end, as fast as they are taken."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n" + ADVERTISEMENT + b"\r\n001e# service=git-upload-pack\n0000")
        for number in itertools.count():
            line = b"%040x refs/heads/branch-%d" % (number + 1, number)
            line += b"\0side-band-64k\n" if number == 0 else b"\n"
            writer.write(b"%04x" % (len(line) + 4) + line)
            if number % 1000 == 0:
                await writer.drain()

    return behave


def endless_head() -> Behaviour:
    """Sends head lines without end."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            writer.write(b"X-More: " + _CHUNK[:1000] + b"\r\n")
            await writer.drain()

    return behave


def hang_up() -> Behaviour:
    """Takes the request and hangs up."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    return behave
