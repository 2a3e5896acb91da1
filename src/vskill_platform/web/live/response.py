"""An answer that is an event stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from litestar import Request, Response
from litestar.response.base import ASGIResponse
from litestar.types import Receive, Scope, Send

from vskill_platform.web.live.hub import Hub
from vskill_platform.web.live.wanted import Wanted

MEDIA_TYPE = "text/event-stream"
_HEADERS = {
    "Cache-Control": "no-store",
    "Connection": "close",
    "X-Accel-Buffering": "no",
}
"""No cache keeps it, no proxy holds it back, and the connection ends with it, so that a server that stops can."""


class EventStream(Response[bytes]):
    """The events that a caller wants, from one that he has seen or from now on. Its place is given back when it ends."""

    def __init__(self, hub: Hub, wanted: Wanted, *, after: int | None, give_back: Callable[[], None]) -> None:
        super().__init__(b"", media_type=MEDIA_TYPE, headers=_HEADERS)
        self._hub = hub
        self._wanted = wanted
        self._after = after
        self.give_back = give_back

    def to_asgi_response(
        self,
        app: object,
        request: Request[Any, Any, Any],
        *,
        is_head_response: bool = False,
        **_: Any,
    ) -> ASGIResponse:
        """The answer to a request; one for its head alone ends there."""
        return _Answer(self, is_head_response=is_head_response)

    async def serve(self, receive: Receive, send: Send) -> None:
        """Serve the stream."""
        await self._hub.serve(self._wanted, after=self._after, receive=receive, send=send)


class _Answer(ASGIResponse):
    __slots__ = ("_stream",)
    _should_set_content_length = False

    def __init__(self, stream: EventStream, *, is_head_response: bool) -> None:
        super().__init__(
            headers=stream.headers,
            is_head_response=is_head_response,
            media_type=MEDIA_TYPE,
        )
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and give the stream's place back, however it ends."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._stream.give_back()

    async def send_body(self, send: Send, receive: Receive) -> None:
        """The events, for as long as anybody takes them."""
        await self._stream.serve(receive, send)
