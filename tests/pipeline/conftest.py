"""A registry without its web server: a real engine, real git over loopback, a real scanning process that tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.pipeline.journey import LOOPBACK, Journey, open_journey
from tests.pipeline.shared_scanner import SharedScanner, share_scanner
from vskill_platform.engines.memory import open_memory
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.engine import Engine
from vskill_platform.settings import convert_settings


@pytest.fixture(scope="package")
def scanner() -> Iterator[SharedScanner]:
    with share_scanner(convert_settings(LOOPBACK)) as shared:
        yield shared


@pytest.fixture(params=["memory", "sqlite"])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engine]:
    if request.param == "memory":
        opened: Engine = await open_memory(clock=SystemClock())
    else:
        opened = await open_sqlite(tmp_path / "registry.db", clock=SystemClock(), synchronous="OFF")
    yield opened
    await opened.close()


@pytest.fixture
async def journey(engine: Engine, scanner: SharedScanner, tmp_path: Path) -> AsyncIterator[Journey]:
    async with open_journey(engine, tmp_path, scanner=scanner) as opened:
        yield opened
