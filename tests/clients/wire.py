"""What lies between a client and the registry: notes each request and its answer, and can spoil an answer on its way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from litestar.types import ASGIApp, Message, Receive, Scope, Send


@dataclass
class Request:
    """A request as it came in, and how it was answered."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    status: int = 0
    sent_bytes: int = 0

    @property
    def line(self) -> str:
        """Method and target, as in a log."""
        return f"{self.method} {self.path}{'?' if self.query else ''}{self.query}"


@dataclass
class Wire:
    """An ASGI application around another. `spoiled` has ends of paths whose answers get one byte wrong."""

    application: ASGIApp
    requests: list[Request] = field(default_factory=list)
    spoiled: tuple[str, ...] = ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        noted = Request(scope["method"], scope["path"], scope["query_string"].decode(), headers)
        self.requests.append(noted)
        is_spoiled = bool(self.spoiled) and scope["path"].endswith(self.spoiled)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                noted.status = message["status"]
            if message["type"] == "http.response.body":
                body = message.get("body", b"")
                noted.sent_bytes += len(body)
                if is_spoiled and body:
                    message["body"] = body[:-1] + bytes([body[-1] ^ 1])
            await send(message)

        await self.application(scope, receive, answer)

    @contextmanager
    def spoiling(self, *ends: str) -> Iterator[None]:
        """Get one byte wrong in each answer to a path that ends so, for as long as the block lasts."""
        self.spoiled = ends
        try:
            yield
        finally:
            self.spoiled = ()

    @property
    def lines(self) -> list[str]:
        """Every request so far."""
        return [request.line for request in self.requests]
