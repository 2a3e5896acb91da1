"""A server that speaks just enough of git's protocol to hand over a pack of the test's own making, honest or not."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import os
import struct
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress

from vskill_platform.testing.git_repos import REGULAR, TreeEntry
from vskill_platform.testing.hostile_repos import commit_bytes, tree_bytes

COMMIT, TREE, BLOB, REF_DELTA = 1, 2, 3, 7
_KINDS = {"commit": COMMIT, "tree": TREE, "blob": BLOB}
_COPIED = 0xFFFFFF
_CHUNK = 65000
_CAPABILITIES = (
    b"version 2\n",
    b"agent=git/2.0\n",
    b"ls-refs=unborn\n",
    b"fetch=shallow filter\n",
    b"object-format=sha1\n",
)


class Packed:
    """A commit and the pack that holds it, piece by piece."""

    def __init__(self, commit: str, pieces: Callable[[], Iterator[bytes]]) -> None:
        self.commit = commit
        self.pieces = pieces


class PackServer:
    """Serves whatever `packed` is at the moment, under any path; sends everybody to `moved_to` once that is set."""

    def __init__(self, packed: Packed) -> None:
        self.packed = packed
        self.moved_to = ""
        self.port = 0
        self.after_pack: Callable[[], None] = lambda: None

    @property
    def url(self) -> str:
        """An address that it answers to."""
        return f"http://127.0.0.1:{self.port}/owner/name"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection and hang up."""
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                await self._answer(reader, writer)
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        if self.moved_to:
            writer.write(f"HTTP/1.1 301 Moved\r\nLocation: {self.moved_to}\r\nContent-Length: 0\r\n\r\n".encode())
            return
        body = await _read_body(reader, head)
        kind = "advertisement" if head.startswith("GET") else "result"
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-{kind}\r\n\r\n".encode())
        if kind == "advertisement":
            writer.write(line(b"# service=git-upload-pack\n") + b"0000" + b"".join(map(line, _CAPABILITIES)) + b"0000")
        elif b"command=ls-refs" in body:
            commit = self.packed.commit.encode()
            head_line = line(commit + b" HEAD symref-target:refs/heads/main\n")
            writer.write(head_line + line(commit + b" refs/heads/main\n") + b"0000")
        else:
            await self._send_pack(writer)
        await writer.drain()

    async def _send_pack(self, writer: asyncio.StreamWriter) -> None:
        shallow = line(b"shallow " + self.packed.commit.encode() + b"\n")
        writer.write(line(b"shallow-info\n") + shallow + b"0001" + line(b"packfile\n"))
        for piece in self.packed.pieces():
            for start in range(0, len(piece), _CHUNK):
                writer.write(line(b"\x01" + piece[start : start + _CHUNK]))
            await writer.drain()
        writer.write(b"0000")
        self.after_pack()


@asynccontextmanager
async def pack_server(packed: Packed) -> AsyncIterator[PackServer]:
    """A server of one pack while the block lasts."""
    served = PackServer(packed)
    tasks: set[asyncio.Task[object]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        await served.serve(reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


def pack_of_files(files: dict[str, bytes], *, more: tuple[bytes, ...] = ()) -> Packed:
    """An honest pack of a commit of these files, in one folder, with entries added that are already encoded."""
    objects: list[tuple[str, bytes]] = [("blob", content) for content in files.values()]
    entries = [TreeEntry(REGULAR, name.encode(), _id("blob", content)) for name, content in sorted(files.items())]
    objects.append(("tree", tree_bytes(entries)))
    objects.append(("commit", commit_bytes(_id(*objects[-1]))))
    encoded = [entry(_KINDS[kind], content) for kind, content in objects]
    return Packed(_id(*objects[-1]), lambda: iter([pack(*encoded, *more)]))


def endless_pack(*, claimed_bytes: int) -> Packed:
    """A pack of one incompressible file that claims to be this long and never ends."""

    def pieces() -> Iterator[bytes]:
        noise = os.urandom(1 << 16)
        squeeze = zlib.compressobj(0)
        yield b"PACK" + struct.pack(">II", 2, 1) + _entry_head(BLOB, claimed_bytes)
        while True:
            yield squeeze.compress(noise)

    return Packed("1" * 40, pieces)


def delta_bomb(*, times: int) -> tuple[bytes, bytes]:
    """Entries of a pack: 16 MiB of nothing, and a file that is that many times over. Some 20 KB for gigabytes."""
    base = bytes(_COPIED)
    copy = bytes([0b11110000 | 0x80, 0xFF, 0xFF, 0xFF])
    delta = _varint(len(base)) + _varint(len(base) * times) + copy * times
    return entry(BLOB, base), entry(REF_DELTA, delta, base=bytes.fromhex(_id("blob", base)))


def pack(*entries: bytes) -> bytes:
    """A pack of entries that are already encoded."""
    body = b"PACK" + struct.pack(">II", 2, len(entries)) + b"".join(entries)
    return body + hashlib.sha1(body).digest()


def entry(kind: int, content: bytes, *, base: bytes = b"") -> bytes:
    """One entry of a pack."""
    return _entry_head(kind, len(content)) + base + zlib.compress(content)


def line(content: bytes) -> bytes:
    """A line as git's protocol frames it."""
    return b"%04x" % (len(content) + 4) + content


def _entry_head(kind: int, size: int) -> bytes:
    head = [(kind << 4) | (size & 0x0F)]
    size >>= 4
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    return bytes(head)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _id(kind: str, content: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content).hexdigest()


async def _read_body(reader: asyncio.StreamReader, head: str) -> bytes:
    fields = dict(field.lower().split(": ", 1) for field in head.strip().split("\r\n")[1:] if ": " in field)
    body = await reader.readexactly(int(fields.get("content-length", "0")))
    return gzip.decompress(body) if fields.get("content-encoding") == "gzip" else body
