"""A receiver of webhooks on loopback: keeps what comes, checks nothing by itself, and answers as a test tells it to."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import msgspec

from vskill_platform.notify.signing import verify


@dataclass(frozen=True, slots=True)
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def kind(self) -> str:
        return str(msgspec.json.decode(self.body)["type"])

    def check(self, *secrets: str, now_s: float) -> str:
        """The id, where the signature and the time are right."""
        return verify(self.body, self.headers, secrets=secrets, now_s=now_s)


@dataclass(slots=True)
class Receiver:
    """An ASGI application. `statuses` are given in turn, the last of them for ever; `gate` holds answers back."""

    statuses: list[int] = field(default_factory=lambda: [204])
    text: bytes = b"thanks"
    location: str = ""
    gate: asyncio.Event | None = None
    received: list[Received] = field(default_factory=list)
    waiting: int = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        query = scope["query_string"].decode()
        self.received.append(Received(scope["path"] + (f"?{query}" if query else ""), headers, body))
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        if self.gate is not None:
            self.waiting += 1
            await self.gate.wait()
        head = [(b"content-type", b"text/plain"), *([(b"location", self.location.encode())] if self.location else [])]
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": b"" if status == 204 else self.text})
