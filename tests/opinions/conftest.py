"""A registry with external scanners, over each engine that one process can have."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.figures import FIGURE, Tell
from tests.opinions.desk import Desk, open_desk
from tests.opinions.scanners import WordScanner
from tests.pipeline.conftest import engine
from tests.pipeline.journey import LOOPBACK, Journey, open_journey
from tests.pipeline.shared_scanner import SharedScanner, share_scanner
from vskill_platform.engines.memory import open_memory
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.engine import Engine
from vskill_platform.settings import convert_settings
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.postgres_server import empty_database

__all__ = ["engine"]


@pytest.fixture(scope="package")
def scanner() -> Iterator[SharedScanner]:
    with share_scanner(convert_settings(LOOPBACK)) as shared:
        yield shared


@pytest.fixture
def settings() -> dict[str, object]:
    return {"external_scanners": "words,more"}


@pytest.fixture
def words() -> WordScanner:
    return WordScanner("words")


@pytest.fixture
def more() -> WordScanner:
    return WordScanner("more")


@pytest.fixture
async def journey(
    engine: Engine,
    scanner: SharedScanner,
    tmp_path: Path,
    settings: dict[str, object],
    words: WordScanner,
    more: WordScanner,
) -> AsyncIterator[Journey]:
    async with open_journey(engine, tmp_path, scanner=scanner, **settings) as opened:
        yield opened.with_env(external={"words": words, "more": more})


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
def place(request: pytest.FixtureRequest) -> str:
    """Which engine: `memory`, `sqlite`, or the URL of a database where a test names `postgres`."""
    kind = str(request.param)
    return str(request.getfixturevalue("postgres_database")) if kind == "postgres" else kind


@pytest.fixture
async def timed_engine(place: str, tmp_path: Path, clock: FakeClock) -> AsyncIterator[Engine]:
    """An engine whose time is that of the test; PostgreSQL has its own."""
    if place == "memory":
        opened: Engine = await open_memory(clock=clock)
    elif place == "sqlite":
        opened = await open_sqlite(tmp_path / "registry.db", clock=clock, synchronous="OFF")
    else:
        await empty_database(place)
        opened = await open_postgres(place)
    yield opened
    await opened.close()


@pytest.fixture
def remote_settings() -> dict[str, object]:
    return {}


@pytest.fixture
async def desk(
    timed_engine: Engine, clock: FakeClock, tmp_path: Path, remote_settings: dict[str, object]
) -> AsyncIterator[Desk]:
    async with open_desk(timed_engine, clock, tmp_path, **remote_settings) as opened:
        yield opened


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Tell:
    """Have pytest print a line at its end."""
    return lambda line: record_property(FIGURE, line)
