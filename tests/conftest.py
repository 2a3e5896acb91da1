"""What holds for every test."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from vskill_platform.engines.postgres import open_postgres
from vskill_platform.testing.postgres_server import PostgresServer

UNTRACED = {"machines", "faults"}
"""Folders whose tests repeat for minutes what others have covered: tracing them would double their time and tell nothing."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if UNTRACED & set(item.path.parts):
            item.add_marker("no_cover")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for all tests of this process in which nothing crashes; it does without syncing."""
    server = PostgresServer(is_safe=False)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def postgres_template(postgres_server: PostgresServer) -> str:
    """A database that has the schema and nothing in it."""
    name = postgres_server.create_database()
    asyncio.run(_make_schema(postgres_server.url(name)))
    return name


@pytest.fixture
def postgres_url(postgres_server: PostgresServer, postgres_template: str) -> Iterator[str]:
    """An empty database of the test's own."""
    name = postgres_server.create_database(template=postgres_template)
    yield postgres_server.url(name)
    postgres_server.drop_database(name)


async def _make_schema(url: str) -> None:
    await (await open_postgres(url)).close()
