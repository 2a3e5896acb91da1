"""The proxy that git speaks through: on loopback, with a secret for each fetch, to one host and port only.

A host is resolved once, when its passage opens, and every connection of the passage goes to an address that was checked
then. There is no second look-up that could answer differently. Bytes are counted in both directions, and a passage that
has spent its budget is cut. What went wrong is kept in the passage, because git can only say that its proxy hung up.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from vskill_platform.domain.errors import SourceUnreachable
from vskill_platform.ingest.escaping import printable
from vskill_platform.ingest.http_heads import BadHead, RequestHead, read_request
from vskill_platform.ingest.limits import ProxyLimits
from vskill_platform.ingest.passage import BUFFER_BYTES, Carrier, Passage, Refusal, Stream
from vskill_platform.ingest.public_addresses import Judge
from vskill_platform.ingest.url_guard import RepositoryAddress, Resolve, resolve_checked

LOOPBACK = "127.0.0.1"
_ADDRESSES_TRIED = 4


class FetchProxy:
    """Listens on a free port of loopback between `open` and `close`."""

    def __init__(self, *, limits: ProxyLimits, resolve: Resolve, judge: Judge) -> None:
        self._limits = limits
        self._resolve = resolve
        self._judge = judge
        self._passages: dict[str, Passage] = {}
        self._connections: set[asyncio.Task[object]] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Start to listen."""
        self._server = await asyncio.start_server(self._serve, LOOPBACK, 0, limit=BUFFER_BYTES)

    async def close(self) -> None:
        """Stop listening and cut what is still connected."""
        if self._server is not None:
            self._server.close()
            await _cancel(self._connections)
            await self._server.wait_closed()

    @property
    def port(self) -> int:
        """Where the proxy listens."""
        assert self._server is not None, "the proxy is not open"
        return int(self._server.sockets[0].getsockname()[1])

    def url(self, passage: Passage) -> str:
        """What git is told about its proxy. It holds the secret: pass it by the environment, not by an argument."""
        return f"http://{passage.name}:{passage.secret}@{LOOPBACK}:{self.port}"

    @asynccontextmanager
    async def passage(self, address: RepositoryAddress, *, max_bytes: int) -> AsyncIterator[Passage]:
        """A passage to this address while the block lasts. Raises AddressForbidden or SourceUnreachable."""
        passage = Passage(address, reachable=await self._reachable(address), max_bytes=max_bytes)
        self._passages[passage.name] = passage
        try:
            yield passage
        finally:
            del self._passages[passage.name]
            await _cancel(passage.connections)

    async def _reachable(self, address: RepositoryAddress) -> tuple[str, ...]:
        try:
            async with asyncio.timeout(self._limits.resolve_s):
                return await resolve_checked(address, resolve=self._resolve, judge=self._judge)
        except TimeoutError as exc:
            raise SourceUnreachable(
                f"The address of '{printable(address.host)}' could not be looked up in {self._limits.resolve_s:g} s. "
                "Try again later.",
                url=printable(address.url),
            ) from exc

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._answer((reader, writer), task)
        except (OSError, BadHead, TimeoutError):
            writer.transport.abort()
        except asyncio.CancelledError:
            # The fetch is over and has cut its connections. Until Python 3.12 the stream server logs a task that ends
            # as cancelled as if it had failed, so this one just ends.
            writer.transport.abort()
        finally:
            self._connections.discard(task)
            writer.close()

    async def _answer(self, client: Stream, task: asyncio.Task[object]) -> None:
        async with asyncio.timeout(self._limits.head_s):
            head = await read_request(client[0])
        passage = self._passage_of(head)
        if passage is None:
            return await _say(client[1], "407 Proxy Authentication Required")
        passage.connections.add(task)
        try:
            await self._carry(head, passage, client)
        finally:
            passage.connections.discard(task)

    def _passage_of(self, head: RequestHead) -> Passage | None:
        name, secret = head.credentials()
        passage = self._passages.get(name)
        if passage is None or not hmac.compare_digest(secret.encode(), passage.secret.encode()):
            return None
        return passage

    async def _carry(self, head: RequestHead, passage: Passage, client: Stream) -> None:
        path = _path_of(head, passage.address)
        if path is None:
            passage.refuse(Refusal.FORBIDDEN)
            return await _say(client[1], "403 Forbidden")
        origin = await self._connect(passage)
        if origin is None:
            passage.refuse(Refusal.CONNECT_FAILED)
            return await _say(client[1], "502 Bad Gateway")
        try:
            await self._exchange(head, path, Carrier(passage, client, origin, idle_s=self._limits.idle_s))
        finally:
            origin[1].close()

    async def _exchange(self, head: RequestHead, path: str, carrier: Carrier) -> None:
        if head.method == "CONNECT":
            carrier.client[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await carrier.run(carrier.copy)
        else:
            request = head.for_origin(path)
            carrier.passage.spend(len(request))
            carrier.origin[1].write(request)
            await carrier.run(carrier.copy_response)

    async def _connect(self, passage: Passage) -> Stream | None:
        """A connection to the first of the checked addresses that takes one, or None."""
        tried = passage.reachable[:_ADDRESSES_TRIED]
        for address in tried:
            with suppress(OSError):  # a time-out is one of them
                async with asyncio.timeout(self._limits.connect_s / len(tried)):
                    return await asyncio.open_connection(address, passage.address.port, limit=BUFFER_BYTES)
        return None


def _path_of(head: RequestHead, address: RepositoryAddress) -> str | None:
    """What to ask the origin for, or None for a request that does not go to the passage's own host and port."""
    if head.method == "CONNECT":
        return "" if address.scheme == "https" and head.target.lower() == address.authority else None
    if address.scheme != "http":
        return None
    for authority in (address.authority, address.authority.removesuffix(":80")):
        path = head.target.removeprefix(f"http://{authority}")
        if path != head.target and path.startswith("/"):
            return path
    return None


async def _say(writer: asyncio.StreamWriter, status: str) -> None:
    writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
    with suppress(ConnectionError):
        await writer.drain()


async def _cancel(tasks: set[asyncio.Task[object]]) -> None:
    waiting = list(tasks)
    for task in waiting:
        task.cancel()
    if waiting:
        await asyncio.wait(waiting, timeout=1.0)
