"""Sockets that are listened on, and the servers behind them."""

from __future__ import annotations

import asyncio
import ctypes
import os
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import uvicorn
from litestar.types import ASGIApp

from vskill_platform.app.arriving import PatientProtocol
from vskill_platform.domain.errors import AddressUnavailable
from vskill_platform.settings import Settings

_SO_ATTACH_FILTER = 26
_DROP_ALL = struct.pack("=HBBI", 0x06, 0, 0, 0)
"""A filter of one instruction for the kernel: let nothing of the packet through."""
_TAKEN_S = 0.2
"""How long connections that stood in line get to be accepted and their requests to be read."""
UNTAKEN_MS = 60_000
"""How long bytes may wait for a client that acknowledges none of them."""


class Server(uvicorn.Server):
    """A server that leaves the signals to us: they stop the worker too, and in order."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take what has come already, then close. A connection that nobody took would be reset, its request with it."""
        for listener in sockets or ():
            refuse_newcomers(listener)
        await asyncio.sleep(_TAKEN_S)
        await super().shutdown(sockets)


class Listening(NamedTuple):
    """A server and the socket that is open for it."""

    server: Server
    listener: socket.socket

    async def serve(self) -> None:
        """Serve until `stop`, then finish the requests that have begun, in the grace time."""
        await self.server.serve(sockets=[self.listener])

    def stop(self) -> None:
        """Accept nothing more."""
        self.server.should_exit = True


def listen_for(app: ASGIApp, listener: socket.socket, *, settings: Settings) -> Listening:
    """A server for the application on a socket."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_graceful_shutdown=max(1, int(settings.drain_grace_s)),
        http=cast("Any", partial(PatientProtocol, limit_s=settings.arrival_time_limit_s)),
    )
    return Listening(Server(config), listener)


@asynccontextmanager
async def serving(app: ASGIApp) -> AsyncIterator[str]:
    """An application on a free loopback port, for as long as the block lasts. Gives its address."""
    settings = Settings(port=0)
    listening = listen_for(app, open_listener(settings.host, settings.port), settings=settings)
    async with asyncio.TaskGroup() as group:
        group.create_task(listening.serve())
        try:
            yield address_of(listening.listener)
        finally:
            listening.stop()


def open_listener(host: str, port: int, *, chosen_by: str = "--host or --port") -> socket.socket:
    """A socket that listens there. Raises AddressUnavailable, which says what another place is chosen by."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as exc:
        raise AddressUnavailable(
            f"Cannot listen on {host}:{port} ({exc.strerror}). "
            f"Choose another with {chosen_by}, or stop what is using it.",
            host=host,
            port=port,
        ) from exc
    # A client that takes nothing of what it asked for is given up by the kernel, and with it what was kept for it.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNTAKEN_MS)
    listener.setblocking(False)
    return listener


def refuse_newcomers(listener: socket.socket) -> None:
    """Let no new connection reach a socket that is about to be closed; those that stand in line stay there.

    The kernel drops the first packet of whoever comes, who sends it again a second later and finds the door closed. Without
    this a client could be connected, have sent its request, and be reset when the socket closes: a proxy cannot know then
    whether the request was carried out, and does not send it elsewhere.
    """
    program = ctypes.create_string_buffer(_DROP_ALL)
    with suppress(OSError):  # not on this system: then it is as it always was
        filter_program = struct.pack("HL", 1, ctypes.addressof(program))
        listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, filter_program)


def open_control_listener(path: Path) -> socket.socket:
    """The control socket. Whoever may open it may steer the registry, so nobody but its user may."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listener.bind(str(path))
    except OSError as exc:
        listener.close()
        raise AddressUnavailable(f"Cannot make the control socket {path} ({exc}). Use a shorter --data path.") from exc
    finally:
        os.umask(mask)
    listener.listen()
    listener.setblocking(False)
    return listener


def address_of(listener: socket.socket) -> str:
    """The address that a socket listens on, as people type it."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
