"""What one fetch may do on the network, and how its bytes are carried, counted and cut."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import StrEnum

from vskill_platform.ingest.http_heads import BadHead, read_response
from vskill_platform.ingest.url_guard import RepositoryAddress

BUFFER_BYTES = 64 * 1024
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Copy = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Refusal(StrEnum):
    """Why a connection of a passage was not made or did not last."""

    FORBIDDEN = "forbidden"
    CONNECT_FAILED = "connect_failed"
    OVER_BUDGET = "over_budget"
    IDLE = "idle"


class Passage:
    """What one fetch may do: reach one host and port, at addresses that were checked, for so many bytes."""

    def __init__(self, address: RepositoryAddress, *, reachable: tuple[str, ...], max_bytes: int) -> None:
        self.address = address
        self.reachable = reachable
        self.max_bytes = max_bytes
        self.spent_bytes = 0
        self.refusal: Refusal | None = None
        self.name = secrets.token_hex(8)
        self.secret = secrets.token_urlsafe(32)
        self.connections: set[asyncio.Task[object]] = set()

    def refuse(self, reason: Refusal) -> None:
        """Keep the first reason: those that follow are its consequences."""
        self.refusal = self.refusal or reason

    def spend(self, count: int) -> bool:
        """Count bytes; False once there are more than the passage may have."""
        self.spent_bytes += count
        return self.spent_bytes <= self.max_bytes


class Carrier:
    """Carries bytes between git and the origin until one side ends, nothing moves any more, or the budget is spent."""

    def __init__(self, passage: Passage, client: Stream, origin: Stream, *, idle_s: float) -> None:
        self.client = client
        self.origin = origin
        self.passage = passage
        self._idle_s = idle_s
        self._idle: asyncio.Timeout | None = None

    async def run(self, download: Copy) -> None:
        """Copy both ways. The origin's end ends it; when git ends first, the origin is hung up on."""
        try:
            async with asyncio.timeout(self._idle_s) as self._idle, asyncio.TaskGroup() as both:
                upload = both.create_task(self._upload())
                await download(self.origin[0], self.client[1])
                upload.cancel()
        except TimeoutError:
            self.passage.refuse(Refusal.IDLE)
            self._abort()

    async def copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Copy until the reader ends or the budget does."""
        with suppress(OSError):
            while chunk := await reader.read(BUFFER_BYTES):
                if not self._count(len(chunk)):
                    return
                writer.write(chunk)
                await writer.drain()

    async def copy_response(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Copy one response, with a head that tells git to use a new connection for its next request."""
        try:
            head = await read_response(reader)
        except (BadHead, OSError):
            self._abort()
            return
        if self._count(len(head)):
            writer.write(head)
            await self.copy(reader, writer)

    async def _upload(self) -> None:
        await self.copy(self.client[0], self.origin[1])
        self.origin[1].close()

    def _count(self, size: int) -> bool:
        if not self.passage.spend(size):
            self.passage.refuse(Refusal.OVER_BUDGET)
            self._abort()
            return False
        assert self._idle is not None
        self._idle.reschedule(asyncio.get_running_loop().time() + self._idle_s)
        return True

    def _abort(self) -> None:
        self.client[1].transport.abort()
        self.origin[1].transport.abort()
