"""Registries on both engines that people run, with real git, real scans and the whole application.

The scanning process takes longer to start than all else together, so the tests of this folder share one, and the loop it
belongs to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.api.skills.registry import Registry, client_of
from tests.pipeline.journey import LOOPBACK, open_journey
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.scanner import Scanner
from vskill_platform.scanning.pool import ScannerPool
from vskill_platform.settings import convert_settings
from vskill_platform.testing.postgres_server import empty_database
from vskill_platform.web.app import create_web_app


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def scanner() -> AsyncIterator[Scanner]:
    async with ScannerPool(convert_settings(LOOPBACK)) as pool:
        yield pool


@pytest_asyncio.fixture(params=["sqlite", "postgres"], loop_scope="package")
async def engine(request: pytest.FixtureRequest, tmp_path: Path, postgres_database: str) -> AsyncIterator[Engine]:
    if request.param == "sqlite":
        opened: Engine = await open_sqlite(tmp_path / "registry.db", clock=SystemClock(), synchronous="OFF")
    else:
        await empty_database(postgres_database)
        opened = await open_postgres(postgres_database)
    yield opened
    await opened.close()


@pytest_asyncio.fixture(loop_scope="package")
async def registry(engine: Engine, scanner: Scanner, tmp_path: Path) -> AsyncIterator[Registry]:
    async with open_journey(engine, tmp_path, scanner=scanner) as journey:
        app = create_web_app(journey.env)
        async with client_of(app) as client:
            yield Registry(journey, app, client)
