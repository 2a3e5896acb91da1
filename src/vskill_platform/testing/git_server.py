"""Repositories over git smart HTTP on loopback, for tests: in the running loop, or in a thread of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from anyio.from_thread import start_blocking_portal
from litestar.types import ASGIApp

from vskill_platform.app import serving
from vskill_platform.web.clients.git_http import GitHttp, repositories_below


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
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(serving(application)) as base_url:
        yield base_url
