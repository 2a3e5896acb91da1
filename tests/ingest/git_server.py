"""A small git server for tests: smart HTTP over `git upload-pack`, one connection a request, with ways to misbehave."""

from __future__ import annotations

import asyncio
import gzip
import os
import ssl
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

ENDING_LIMIT_S = 10.0
SERVICE_LINE = b"001e# service=git-upload-pack\n0000"


class GitServer:
    """Serves every repository below a folder. `change` rewrites the answer to a POST, `cut` is how much of a pack is sent."""

    def __init__(self, folder: Path, *, scheme: str = "http", host: str = "127.0.0.1") -> None:
        self.folder = folder
        self.scheme = scheme
        self.host = host
        self.port = 0
        self.requests: list[str] = []
        self.sent_bytes = 0
        self.before_answer: Callable[[], Awaitable[object]] | None = None
        self.cut = 1.0
        self.change: Callable[[bytes], bytes] = lambda body: body

    def url(self, name: str = "repo.git", *, host: str | None = None) -> str:
        return f"{self.scheme}://{host or self.host}:{self.port}/{name}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                await self._answer(reader, writer)
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        line, *fields = head.strip().split("\r\n")
        self.requests.append(line)
        by_name = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        body = await reader.readexactly(int(by_name.get("content-length", "0")))
        if by_name.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        if self.before_answer is not None:
            await self.before_answer()
        method, path, _ = line.split()
        answer = await self._upload_pack(path, body, by_name.get("git-protocol", ""), advertise=method == "GET")
        kind = "advertisement" if method == "GET" else "result"
        if method == "POST":
            answer = self.change(answer)
        self.sent_bytes += len(answer)
        writer.write(
            f"HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-{kind}\r\n"
            f"Content-Length: {len(answer)}\r\n\r\n".encode()
            + answer[: int(len(answer) * self.cut) if b"PACK" in answer else None]
        )
        await writer.drain()

    async def _upload_pack(self, path: str, body: bytes, protocol: str, *, advertise: bool) -> bytes:
        name = path.lstrip("/").split(".git/")[0] + ".git"
        options = ["--advertise-refs"] if advertise else []
        process = await asyncio.create_subprocess_exec(
            *("git", "upload-pack", "--stateless-rpc", *options, str(self.folder / name)),
            stdin=DEVNULL if advertise else PIPE,
            stdout=PIPE,
            env={"PATH": os.environ["PATH"], "GIT_PROTOCOL": protocol, "GIT_CONFIG_GLOBAL": "/dev/null"},
        )
        answer, _ = await process.communicate(None if advertise else body)
        return SERVICE_LINE + answer if advertise else answer


@asynccontextmanager
async def git_server(
    folder: Path, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncIterator[GitServer]:
    """A server for the repositories below a folder while the block lasts."""
    served = GitServer(folder, scheme="https" if tls else "http", host=host)
    answering: set[asyncio.Task[object]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        answering.add(task)
        try:
            await served.serve(reader, writer)
        finally:
            answering.discard(task)

    server = await asyncio.start_server(serve, host, 0, ssl=tls)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
        if answering:  # a client that hung up leaves a process that is still writing
            await asyncio.wait(list(answering), timeout=ENDING_LIMIT_S)
