"""A judge's server on loopback, and a registry that asks it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.judge.asking import open_court, settings_for
from tests.pipeline.journey import LOOPBACK, Journey, open_journey
from tests.pipeline.shared_scanner import SharedScanner, share_scanner
from vskill_platform.engines.memory import open_memory
from vskill_platform.ports.clock import SystemClock
from vskill_platform.settings import convert_settings
from vskill_platform.testing.judge_endpoint import JudgeEndpoint


@pytest.fixture(scope="package")
def scanner() -> Iterator[SharedScanner]:
    with share_scanner(convert_settings(LOOPBACK)) as shared:
        yield shared


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def server() -> AsyncIterator[JudgeEndpoint]:
    """One server for all tests, which takes longer to stop than most of them take."""
    opened = JudgeEndpoint()
    async with opened.serve():
        yield opened


@pytest.fixture
def endpoint(server: JudgeEndpoint) -> Iterator[JudgeEndpoint]:
    """The server as if it were new; nobody waits for it any more at the end."""
    server.start_anew()
    yield server
    server.left.set()


@pytest_asyncio.fixture(loop_scope="package")
async def journey(endpoint: JudgeEndpoint, scanner: SharedScanner, tmp_path: Path) -> AsyncIterator[Journey]:
    engine = await open_memory(clock=SystemClock())
    async with (
        open_court(settings_for(endpoint)) as judge,
        open_journey(engine, tmp_path, scanner=scanner) as opened,
    ):
        yield opened.with_env(judge=judge)
    await engine.close()
