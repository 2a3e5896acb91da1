"""A registry on each engine, and a browser's way to ask it for pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from vskill_platform.engines.memory import open_memory
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.postgres_server import empty_database
from vskill_platform.web.app import create_web_app

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.fixture(params=["memory"])
def engine_name(request: pytest.FixtureRequest) -> str:
    """The engine that a test runs on; those that are about what is stored ask for `ON_EVERY_ENGINE`."""
    return str(request.param)


@pytest.fixture
def database(engine_name: str, request: pytest.FixtureRequest) -> str:
    """The URL of a database, where the engine wants one."""
    return str(request.getfixturevalue("postgres_database")) if engine_name == "postgres" else ""


@pytest.fixture
async def engine(engine_name: str, database: str, tmp_path: Path) -> AsyncIterator[Engine]:
    if engine_name == "postgres":
        await empty_database(database)
        opened: Engine = await open_postgres(database)
    elif engine_name == "sqlite":
        opened = await open_sqlite(tmp_path / "registry.db", clock=FakeClock(), synchronous="OFF")
    else:
        opened = await open_memory(clock=FakeClock())
    yield opened
    await opened.close()


@pytest.fixture
def env(engine: Engine, tmp_path: Path) -> WorkerEnv:
    return make_env(engine, clock=FakeClock(), folder=tmp_path)


@pytest.fixture
async def client(env: WorkerEnv) -> AsyncIterator[httpx.AsyncClient]:
    """Asks as a browser does."""
    transport = httpx.ASGITransport(create_web_app(env), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://registry", headers=BROWSER) as opened:
        yield opened
