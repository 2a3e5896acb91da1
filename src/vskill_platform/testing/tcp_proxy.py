"""A TCP proxy between a client and a server that a test can make as bad as a network is.

It can cut a connection after any number of bytes in either direction, hold bytes back, slow them down, and refuse. It starts
out as a good network; every fault is set while it runs and holds for all connections, old and new.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

_CHUNK = 65536


@dataclass(slots=True, eq=False)
class Direction:
    """One way through the proxy: what has passed, and what happens to what comes next."""

    passed: int = 0
    cut_after: int | None = None
    """The connection in which the byte after this many passes is cut before it. Counted over all connections."""
    pause_s: float = 0.0
    """How long each piece is held before it goes on."""
    _may_pass: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._may_pass.set()

    def stall(self) -> None:
        """Hold everything back, and say nothing."""
        self._may_pass.clear()

    def resume(self) -> None:
        """Let everything go on."""
        self._may_pass.set()

    async def admit(self, data: bytes) -> tuple[bytes, bool]:
        """What of the data may pass, and whether the connection ends there."""
        await self._may_pass.wait()
        if self.pause_s:
            await asyncio.sleep(self.pause_s)
        allowed, is_cut = data, False
        if self.cut_after is not None and self.passed + len(data) > self.cut_after:
            allowed, is_cut = data[: max(self.cut_after - self.passed, 0)], True
            self.cut_after = None
        self.passed += len(allowed)
        return allowed, is_cut


@dataclass(slots=True, eq=False)
class TcpProxy:
    """A listening proxy in front of one server."""

    host: str
    server_port: int
    port: int = 0
    is_refusing: bool = False
    connections: int = 0
    cuts: int = 0
    to_server: Direction = field(default_factory=Direction)
    to_client: Direction = field(default_factory=Direction)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def cut_all(self) -> None:
        """Cut every connection now."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass one connection on, both ways, until either side ends it."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if self.is_refusing:
            writer.transport.abort()
            return
        self.connections += 1
        try:
            up_reader, up_writer = await asyncio.open_connection(self.host, self.server_port)
        except OSError:
            writer.transport.abort()
            return
        pair = {writer, up_writer}
        self._writers |= pair
        # The stream server reports a task that was cancelled as an error; this one ends by itself.
        with suppress(asyncio.CancelledError):
            await _first_of(
                self._pass(reader, up_writer, self.to_server), self._pass(up_reader, writer, self.to_client)
            )
        self._writers -= pair
        for end in pair:
            end.transport.abort()

    async def close(self) -> None:
        """End every connection."""
        self.cut_all()
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Direction) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                allowed, is_cut = await way.admit(data)
                writer.write(allowed)
                await writer.drain()
                if is_cut:
                    self.cuts += 1
                    return


async def _first_of(*ways: Coroutine[Any, Any, None]) -> None:
    tasks = [asyncio.create_task(way) for way in ways]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


@asynccontextmanager
async def tcp_proxy(server_port: int, *, host: str = "127.0.0.1") -> AsyncIterator[TcpProxy]:
    """A proxy on a free loopback port in front of a server."""
    proxy = TcpProxy(host, server_port)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
        await server.wait_closed()
