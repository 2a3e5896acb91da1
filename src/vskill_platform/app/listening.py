"""Sockets that are listened on, and the servers behind them."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

import uvicorn
from litestar.types import ASGIApp

from vskill_platform.domain.errors import AddressUnavailable
from vskill_platform.settings import Settings

UNTAKEN_MS = 60_000
"""How long bytes may wait for a client that acknowledges none of them."""


class Server(uvicorn.Server):
    """A server that leaves the signals to us: they stop the worker too, and in order."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


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
