"""An answer on its way out: validators, compression, HEAD, and the headers that all answers share.

A whole answer (one that states its length and is not large) is held until its body is there, so that both can be looked at
together. A stream passes through at once and unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from litestar.types import HTTPScope, Message, Send

from vskill_platform.web.surface.compression import MIN_BYTES, Compressor, is_text, takes_gzip
from vskill_platform.web.surface.headers import POLICY, STANDING, Header
from vskill_platform.web.surface.personal import is_marked_personal, is_personal_place, shows_credential
from vskill_platform.web.surface.sharing import READS, is_shared
from vskill_platform.web.surface.validators import gzip_tag, is_known, make_tag

MAX_WHOLE_BYTES = 2 * 1024 * 1024
_TOO_SLOW = 408
_KEPT_BY_304 = frozenset(
    {b"cache-control", b"content-location", b"content-security-policy", b"date", b"etag", b"expires", b"vary", b"link"}
)
"""A browser takes the headers of a 304 in place of those it has, so a page must bring its policy along each time."""


class Whole(NamedTuple):
    """An answer as it was made: its headers, with the tag, and its body, before either was fitted to the client."""

    head: dict[bytes, bytes]
    body: bytes


class Answer:
    """What is sent back for one request. `send` takes the application's messages."""

    __slots__ = (
        "_asked",
        "_compressor",
        "_cookies",
        "_head",
        "_is_ended",
        "_is_head",
        "_is_read",
        "_is_shared",
        "_more_headers",
        "_pieces",
        "_scope",
        "_send",
        "status",
        "when_begun",
        "when_whole",
        "whole",
    )

    def __init__(
        self,
        scope: HTTPScope,
        send: Send,
        *,
        asked: dict[bytes, bytes],
        compressor: Compressor,
        more_headers: Callable[[], tuple[Header, ...]],
    ) -> None:
        method = scope["method"]
        self._scope = scope
        self._send = send
        self._asked = asked
        self._compressor = compressor
        self._more_headers = more_headers
        self._is_read = method in READS
        self._is_head = method == "HEAD"
        self._is_shared = is_shared(method, scope["path"])
        self.status = 500
        self.whole: Whole | None = None
        self.when_whole: Callable[[Whole], None] | None = None
        self.when_begun: Callable[[], None] | None = None
        self._head: dict[bytes, bytes] = {}
        self._cookies: list[Header] = []
        self._pieces: list[bytes] | None = None
        self._is_ended = False

    async def send(self, message: Message) -> None:
        """Take one message of the application."""
        if message["type"] == "http.response.start":
            await self._begin(message["status"], message.get("headers", ()))
        elif message["type"] == "http.response.body" and self._pieces is not None:
            self._pieces.append(message.get("body", b""))
            if not message.get("more_body", False):
                await self._send_whole(b"".join(self._pieces))
        elif not self._is_ended:
            await self._send(message)

    async def send_again(self, whole: Whole) -> None:
        """Send what was sent whole before."""
        self.status = 200
        self._head = dict(whole.head)
        await self._send_whole(whole.body)

    async def _begin(self, status: int, headers: Iterable[Header]) -> None:
        self.status = status
        if self.when_begun is not None:
            self.when_begun()
        for name, value in headers:
            name = name.lower()
            if name == b"set-cookie":
                self._cookies.append((name, value))
            else:
                self._head[name] = value
        self._set_defaults()
        length = self._head.get(b"content-length")
        if length is not None and int(length) <= MAX_WHOLE_BYTES:
            self._pieces = []
        elif self._knows_client(self._head.get(b"etag")):
            await self._send_unmodified()
        else:
            await self._start()
            if self._is_head:
                await self._finish(b"")

    def _set_defaults(self) -> None:
        allowed = self._head.get(b"allow")
        if allowed is not None and b"GET" in allowed and b"HEAD" not in allowed:
            self._head[b"allow"] = b", ".join(sorted([*allowed.split(b", "), b"HEAD"]))
        if is_personal_place(self._scope["path"]) or is_marked_personal(self._scope):
            self._head[b"cache-control"] = b"no-store"
            self._head.pop(b"etag", None)
            self._is_shared = False
            return
        if b"cache-control" not in self._head:
            self._head[b"cache-control"] = b"no-cache" if self._is_read and self.status == 200 else b"no-store"
        if self._head[b"cache-control"] == b"no-cache" and shows_credential(self._asked):
            self._head[b"cache-control"] = b"private, no-cache"

    async def _send_whole(self, body: bytes) -> None:
        self._pieces = None
        if self._is_read and self.status == 200 and b"no-store" not in self._head[b"cache-control"]:
            if b"etag" not in self._head:
                self._head[b"etag"] = make_tag(body)
            if not self._cookies:
                self._note_whole(Whole(dict(self._head), body))
            if self._knows_client(self._head[b"etag"]):
                await self._send_unmodified()
                return
        body = await self._encode(body)
        if self.status not in (204, 304):
            self._head[b"content-length"] = b"%d" % len(body)
        await self._start()
        await self._finish(b"" if self._is_head else body)

    def _note_whole(self, whole: Whole) -> None:
        """Tell that the answer is made before it is sent: a client that takes its time keeps nobody waiting."""
        self.whole = whole
        if self.when_whole is not None:
            self.when_whole(whole)

    async def _encode(self, body: bytes) -> bytes:
        head = self._head
        if not is_text(head.get(b"content-type", b"")) or b"content-encoding" in head:
            return body
        _add_vary(head, b"Accept-Encoding")
        if len(body) < MIN_BYTES or not takes_gzip(self._asked.get(b"accept-encoding", b"")):
            return body
        head[b"content-encoding"] = b"gzip"
        tag = head.get(b"etag")
        if tag is not None:
            head[b"etag"] = gzip_tag(tag)
        return await self._compressor.compress(body, tag=tag)

    def _knows_client(self, tag: bytes | None) -> bool:
        known = self._asked.get(b"if-none-match")
        return bool(tag and known and self._is_read and self.status == 200 and is_known(tag, known))

    async def _send_unmodified(self) -> None:
        self.status = 304
        if is_text(self._head.get(b"content-type", b"")):
            _add_vary(self._head, b"Accept-Encoding")
        self._head = {name: value for name, value in self._head.items() if name in _KEPT_BY_304}
        await self._start()
        await self._finish(b"")

    async def _start(self) -> None:
        headers = [
            *self._head.items(),
            *self._cookies,
            *STANDING[POLICY in self._head, self._is_shared],
            *self._more_headers(),
        ]
        if self.status == _TOO_SLOW:
            headers.append((b"connection", b"close"))  # the rest of its body is nothing to wait for
        await self._send({"type": "http.response.start", "status": self.status, "headers": headers})

    async def _finish(self, body: bytes) -> None:
        self._is_ended = True
        await self._send({"type": "http.response.body", "body": body, "more_body": False})


def _add_vary(head: dict[bytes, bytes], name: bytes) -> None:
    known = head.get(b"vary")
    if known is None:
        head[b"vary"] = name
    elif name.lower() not in known.lower():
        head[b"vary"] = known + b", " + name
