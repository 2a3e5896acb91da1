"""What is sent back to a git client."""

from __future__ import annotations

from typing import NamedTuple

from litestar.types import Send

_NEVER_CACHED = (
    (b"cache-control", b"no-cache, max-age=0, must-revalidate"),
    (b"expires", b"Fri, 01 Jan 1980 00:00:00 GMT"),
    (b"pragma", b"no-cache"),
    (b"x-content-type-options", b"nosniff"),
)


class Refusal(NamedTuple):
    """An answer without git."""

    status: int
    text: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


def only_method(method: str) -> Refusal:
    """The answer to a method that the path does not have."""
    return Refusal(405, f"Use {method} here.", ((b"allow", method.encode()),))


async def send_refusal(send: Send, refusal: Refusal) -> None:
    """Send the refusal as plain text."""
    body = f"{refusal.text}\n".encode()
    content = ((b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode()))
    headers = [*content, *_NEVER_CACHED, *refusal.headers]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


class GitResponse:
    """The output of git as a response. It begins with the first piece, so that a git that fails can still be a status."""

    def __init__(self, send: Send, *, content_type: str, preface: bytes) -> None:
        self._send = send
        self._content_type = content_type
        self._preface = preface
        self._is_begun = False

    async def send(self, piece: bytes) -> None:
        """Send a piece, after head and preface if it is the first."""
        await self._send_body(await self._begin() + piece, more_body=True)

    async def finish(self, *, has_failed: bool) -> None:
        """End the response; where git failed before it said anything, with an error."""
        if has_failed and not self._is_begun:
            await send_refusal(self._send, Refusal(500, "git could not read the repository."))
        else:
            await self._send_body(await self._begin(), more_body=False)

    async def _begin(self) -> bytes:
        """Send the head if it was not sent yet; what goes before the first piece."""
        if self._is_begun:
            return b""
        self._is_begun = True
        headers = [(b"content-type", self._content_type.encode()), *_NEVER_CACHED]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        return self._preface

    async def _send_body(self, body: bytes, *, more_body: bool) -> None:
        await self._send({"type": "http.response.body", "body": body, "more_body": more_body})
