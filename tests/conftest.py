"""What holds for every test."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# Before anything imports them: a contract that fails says what it compared.
pytest.register_assert_rewrite("vskill_platform.testing")

from tests.faults.figures import FIGURE  # noqa: E402
from vskill_platform.engines.postgres import open_postgres  # noqa: E402
from vskill_platform.testing.postgres_server import PostgresServer, empty_database  # noqa: E402

settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")
"""No property is held against the clock: a busy machine would make it fail."""

UNTRACED = {"machines", "faults", "hostile", "corpus", "browser", "deploy"}
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
def postgres_database(postgres_server: PostgresServer) -> str:
    """The URL of a database that has the schema."""
    url = postgres_server.url(postgres_server.create_database())
    asyncio.run(_make_schema(url))
    return url


@pytest.fixture
async def postgres_url(postgres_database: str) -> str:
    """The URL of a database that has the schema and nothing in it."""
    await empty_database(postgres_database)
    return postgres_database


async def _make_schema(url: str) -> None:
    await (await open_postgres(url)).close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the fault runs came to."""
    lines = [
        value
        for report in terminalreporter.getreports("passed")
        for name, value in report.user_properties
        if name == FIGURE and report.when == "call"
    ]
    if lines:
        terminalreporter.section("figures")
        for line in sorted(lines):
            terminalreporter.line(str(line))
