"""A registry with streams, served over a real socket, on every engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from vskill_platform.app.listening import serving
from vskill_platform.engines.memory import open_memory
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.postgres_server import empty_database
from vskill_platform.web.app import create_web_app
from vskill_platform.web.live.hub import Hub

ENGINES = ("memory", "sqlite", "postgres")


@pytest.fixture(params=ENGINES)
def kind(request: pytest.FixtureRequest) -> str:
    """The engine's name; for PostgreSQL the URL of a database."""
    return str(request.getfixturevalue("postgres_database") if request.param == "postgres" else request.param)


@pytest.fixture
async def engine(kind: str, tmp_path: Path) -> AsyncIterator[Engine]:
    clock = SystemClock()
    if kind == "memory":
        opened: Engine = await open_memory(clock=clock)
    elif kind == "sqlite":
        opened = await open_sqlite(tmp_path / "registry.db", clock=clock, synchronous="OFF")
    else:
        await empty_database(kind)
        opened = await open_postgres(kind, clock=clock)
    yield opened
    await opened.close()


@pytest.fixture
def env(engine: Engine, tmp_path: Path) -> WorkerEnv:
    return make_env(engine, clock=SystemClock(), folder=tmp_path, streams_per_address=4, streams_most=8)


@pytest.fixture
async def hub(env: WorkerEnv) -> AsyncIterator[Hub]:
    opened = Hub(env, kept=64)
    yield opened
    await opened.close()


@pytest.fixture
async def address(env: WorkerEnv, hub: Hub) -> AsyncIterator[str]:
    """Where the registry serves. The hub ends its streams before the server is stopped, as a process does."""
    async with serving(create_web_app(env, hub=hub)) as place:
        yield place
        hub.stop()
