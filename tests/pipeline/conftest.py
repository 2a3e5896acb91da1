"""A registry without its web server: a real engine, real git over loopback, real scanning processes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.pipeline.journey import LOOPBACK as LOOPBACK
from tests.pipeline.journey import Journey, open_journey
from vskill_platform.engines.memory import open_memory
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.engine import Engine


@pytest.fixture(params=["memory", "sqlite"])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engine]:
    if request.param == "memory":
        opened: Engine = await open_memory(clock=SystemClock())
    else:
        opened = await open_sqlite(tmp_path / "registry.db", clock=SystemClock(), synchronous="OFF")
    yield opened
    await opened.close()


@pytest.fixture
async def journey(engine: Engine, tmp_path: Path) -> AsyncIterator[Journey]:
    async with open_journey(engine, tmp_path) as opened:
        yield opened
