"""A registry with a git server on loopback, and people who are signed in to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.publishers.site import Site, open_site
from vskill_platform.engines.memory import open_memory
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.engine import Engine
from vskill_platform.testing.clock import FakeClock


@pytest.fixture(params=["memory"])
def engine_name(request: pytest.FixtureRequest) -> str:
    """The engine that a test runs on; those that are about what is stored ask for both."""
    return str(request.param)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def engine(engine_name: str, clock: FakeClock, tmp_path: Path) -> AsyncIterator[Engine]:
    if engine_name == "sqlite":
        opened: Engine = await open_sqlite(tmp_path / "registry.db", clock=clock, synchronous="OFF")
    else:
        opened = await open_memory(clock=clock)
    yield opened
    await opened.close()


@pytest.fixture
async def site(engine: Engine, clock: FakeClock, tmp_path: Path) -> AsyncIterator[Site]:
    async with open_site(engine, clock, tmp_path) as opened:
        yield opened
