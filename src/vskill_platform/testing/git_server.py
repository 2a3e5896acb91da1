"""Repositories over git smart HTTP on loopback, for tests: in the running loop, or in a thread of their own."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import uvicorn
from litestar.types import ASGIApp

from vskill_platform.app import serving
from vskill_platform.web.clients.git_http import GitHttp, repositories_below

START_LIMIT_S = 20.0


@asynccontextmanager
async def serve_repositories(folder: Path) -> AsyncIterator[str]:
    """Serve every repository below the folder, each as `{base URL}/{name}.git`, until the block ends."""
    async with serve_application(GitHttp(repositories_below(folder))) as base_url:
        yield base_url


@contextmanager
def serve_repositories_in_thread(folder: Path) -> Iterator[str]:
    """The same for tests without an event loop, and for those whose loop must stay free."""
    with serve_application_in_thread(GitHttp(repositories_below(folder))) as base_url:
        yield base_url


@asynccontextmanager
async def serve_application(application: ASGIApp) -> AsyncIterator[str]:
    """Serve an application on a free loopback port of the running loop."""
    async with serving(application) as base_url:
        yield base_url


@contextmanager
def serve_application_in_thread(application: ASGIApp) -> Iterator[str]:
    """Serve an application on a free loopback port from a thread with a loop of its own."""
    listener = _listen()
    server = _Server(_config(application))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), name="git-server")
    thread.start()
    try:
        yield _base_url(listener)
    finally:
        server.should_exit = True
        thread.join(START_LIMIT_S)
        if thread.is_alive():
            raise AssertionError("the git server did not stop")


class _Server(uvicorn.Server):
    """A server that leaves signals to the test run."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def _config(application: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=5,
    )


def _listen() -> socket.socket:
    """A socket that listens already, so that nobody has to wait for the server before connecting."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    listener.setblocking(False)
    return listener


def _base_url(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}"
