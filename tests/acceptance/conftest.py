"""Envs over real engines: every acceptance test runs on each engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from vskill_platform.engines.memory import open_memory
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
async def engine(request: pytest.FixtureRequest, clock: FakeClock, tmp_path: Path) -> AsyncIterator[Engine]:
    if request.param == "memory":
        opened: Engine = await open_memory(clock=clock)
    else:
        opened = await open_sqlite(tmp_path / "registry.db", clock=clock, synchronous="OFF")
    clock.wait_for_threads_of(opened)
    yield opened
    await opened.close()


@pytest.fixture
def env(engine: Engine, clock: FakeClock, tmp_path: Path) -> WorkerEnv:
    return make_env(engine, clock=clock, folder=tmp_path)
