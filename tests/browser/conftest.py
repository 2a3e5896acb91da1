"""One Chromium and one registry for all browser tests of a process; a fresh, watched context for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, async_playwright, expect

from tests.browser.sites import Site, running_site
from tests.browser.stocking import Stock, fill
from tests.browser.watching import Watched, watch
from vskill_platform.domain.access import Role
from vskill_platform.testing.chromium import chromium_arguments, find_chromium
from vskill_platform.testing.postgres_server import PostgresServer

LIMIT_MS = 20_000
expect.set_options(timeout=LIMIT_MS)
Visit = Callable[..., Awaitable[Watched]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """The machine's Chromium, once."""
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=find_chromium(), args=chromium_arguments())
        yield launched
        await launched.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A registry on SQLite that the tests of this process share: each submits repositories of its own."""
    with running_site("", tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def stock(site: Site) -> Stock:
    """The shared registry with some of everything in it."""
    return await fill(site)


@pytest.fixture
def postgres_site(postgres_server: PostgresServer, tmp_path: Path) -> Iterator[Site]:
    """A registry on a PostgreSQL database of its own."""
    with running_site(postgres_server.url(postgres_server.create_database()), tmp_path) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def visit(browser: Browser) -> AsyncIterator[Visit]:
    """Opens watched pages. At the end anything in a console, any refused script and any foreign request is a failure."""
    contexts: list[BrowserContext] = []
    visits: list[Watched] = []

    async def open_page(site: Site, path: str = "", **options: Any) -> Watched:
        context = await browser.new_context(**{"reduced_motion": "reduce", **options})
        context.set_default_timeout(LIMIT_MS)
        contexts.append(context)
        visits.append(await watch(context, site.address))
        if path:
            await visits[-1].go(path)
        return visits[-1]

    yield open_page
    for context in contexts:
        await context.close()
    assert [problem for watched in visits for problem in watched.unexpected()] == []


@pytest_asyncio.fixture(loop_scope="session")
async def signed_in(visit: Visit) -> Visit:
    """Opens watched pages as somebody with a role: `await signed_in(site, "/admin/queue", role=Role.REVIEWER)`."""

    async def open_page(site: Site, path: str = "", *, role: Role, **options: Any) -> Watched:
        watched = await visit(site, **options)
        await watched.page.context.add_cookies(await site.cookies(role))
        if path:
            await watched.go(path)
        return watched

    return open_page
