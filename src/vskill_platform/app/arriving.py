"""The time and the room that a request's head has: a client that trickles it, or sends one without end, is cut off.

The server's own protocol waits for ever for a head that has begun, and for the rest of a body that nobody reads. Bodies that
somebody reads are held to their time by `web/surface/time_limits.py`.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

MAX_HEAD_BYTES = 64 * 1024
_TOO_SLOW, _TOO_LARGE, _BROKEN = 408, 431, 400


class HeadTooLarge(Exception):
    """The request line and the headers are more than anybody needs."""


class PatientProtocol(HttpToolsProtocol):
    """HTTP/1.1 as the server speaks it, with an end to its patience."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        limit_s: float,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._limit_s = limit_s
        self._waiting: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._awaits_head = True
        self._is_message_open = False
        self._refused_with = _BROKEN

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come: it has the limit to say what it wants."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what has come, unless it is the beginning of a head without end."""
        super().data_received(data)
        if self._awaits_head and self._is_message_open:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
                self._refuse(_TOO_LARGE)

    def on_message_begin(self) -> None:
        """The first byte of a head."""
        super().on_message_begin()
        self._is_message_open, self._awaits_head, self._head_bytes = True, True, 0
        self._wait()

    def on_headers_complete(self) -> None:
        """The head is there. Raises HeadTooLarge, which the parser turns into a refusal."""
        self._wait_no_more()
        self._awaits_head = False
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > MAX_HEAD_BYTES:
            self._refused_with = _TOO_LARGE
            raise HeadTooLarge
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The body is there too."""
        self._is_message_open = False
        self._wait_no_more()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Answered. What is left of a body that nobody wanted has to come to its end."""
        super().on_response_complete()
        if self._is_message_open and not self.transport.is_closing():
            self._wait()

    def send_400_response(self, msg: str) -> None:
        """Refuse what could not be read; a head that is too large, as that."""
        if not self.transport.is_closing():
            self._refuse(self._refused_with)

    def _wait(self) -> None:
        if self._waiting is None:
            self._waiting = self.loop.call_later(self._limit_s, self._lose_patience)

    def _wait_no_more(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _lose_patience(self) -> None:
        """Tell who has begun a head that it took too long; who said nothing, or was answered, is only cut off."""
        self._waiting = None
        if self.transport.is_closing():
            return
        if self._is_message_open and self._awaits_head:
            self._refuse(_TOO_SLOW)
        else:
            self.transport.close()

    def _refuse(self, status: int) -> None:
        self.transport.write(STATUS_LINE[status] + b"content-length: 0\r\nconnection: close\r\n\r\n")
        self.transport.close()
