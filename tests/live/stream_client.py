"""A client of event streams that reads what comes over a real socket, as a browser does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

LIMIT_S = 20.0
SUBMISSIONS = "/api/v1/submissions/stream"
SKILLS = "/api/v1/skills/stream"


@dataclass(frozen=True, slots=True)
class Seen:
    """One event as a client sees it; an id that came without an event has no name."""

    id: int | None
    name: str | None
    data: dict[str, Any]


@dataclass(slots=True)
class StreamClient:
    """An open stream: its head, and what comes."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    last_id: int | None = None
    retry_ms: int | None = None
    comments: list[str] = field(default_factory=list)
    _rest: bytes = b""

    async def next(self) -> Seen:
        """The next event with a name."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                block = await self._block()
                assert block is not None, "the stream has ended"
                seen = self._read(block)
                if seen.name is not None:
                    return seen

    async def take(self, count: int) -> list[Seen]:
        """So many events."""
        return [await self.next() for _ in range(count)]

    async def until_end(self) -> list[Seen]:
        """Everything to the end of the stream."""
        seen = []
        async with asyncio.timeout(LIMIT_S):
            while (block := await self._block()) is not None:
                seen.append(self._read(block))
        return [one for one in seen if one.name is not None]

    async def until_comment(self) -> None:
        """Read on until a comment comes, with what stands beside it."""
        before = len(self.comments)
        async with asyncio.timeout(LIMIT_S):
            while len(self.comments) == before:
                block = await self._block()
                assert block is not None, "the stream has ended"
                self._read(block)

    async def body(self) -> bytes:
        """The rest of an answer that is no stream."""
        async with asyncio.timeout(LIMIT_S):
            return await self.reader.readexactly(int(self.headers["content-length"]))

    async def _block(self) -> str | None:
        while b"\n\n" not in self._rest:
            size = int((await self.reader.readline()).strip() or b"0", 16)
            if size == 0:
                return None
            self._rest += await self.reader.readexactly(size)
            await self.reader.readline()
        block, _, self._rest = self._rest.partition(b"\n\n")
        return block.decode()

    def _read(self, block: str) -> Seen:
        fields: dict[str, str] = {}
        for line in block.split("\n"):
            name, _, value = line.partition(": ")
            if line.startswith(":"):
                self.comments.append(line)
            else:
                fields[name] = value
        if "retry" in fields:
            self.retry_ms = int(fields["retry"])
        if "id" in fields:
            self.last_id = int(fields["id"])
        identity = int(fields["id"]) if "id" in fields else None
        return Seen(identity, fields.get("event"), json.loads(fields.get("data", "{}")))


@asynccontextmanager
async def open_stream(
    address: str,
    path: str = SUBMISSIONS,
    *,
    last_event_id: int | str | None = None,
    source: str = "127.0.0.1",
    token: str = "",
) -> AsyncIterator[StreamClient]:
    """A stream, closed at the end. Its first block, which says where it begins, is read already."""
    place = urlsplit(address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port, local_addr=(source, 0))
    client = StreamClient(reader, writer)
    try:
        resume = "" if last_event_id is None else f"Last-Event-ID: {last_event_id}\r\n"
        who = f"Authorization: Bearer {token}\r\n" if token else ""
        writer.write(f"GET {path} HTTP/1.1\r\nHost: registry\r\n{who}{resume}\r\n".encode())
        await _read_head(client)
        if client.status == 200:
            block = await client._block()
            assert block is not None
            client._read(block)
        yield client
    finally:
        writer.close()


async def _read_head(client: StreamClient) -> None:
    async with asyncio.timeout(LIMIT_S):
        client.status = int((await client.reader.readline()).split()[1])
        while (line := (await client.reader.readline()).decode().strip()) != "":
            name, _, value = line.partition(": ")
            client.headers[name.lower()] = value
