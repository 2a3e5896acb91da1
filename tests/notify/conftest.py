"""An env over the memory engine, with a clock that tests move."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from vskill_platform.engines.memory import open_memory
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def engine(clock: FakeClock) -> AsyncIterator[Engine]:
    opened = await open_memory(clock=clock)
    yield opened
    await opened.close()


@pytest.fixture
def env(engine: Engine, clock: FakeClock, tmp_path: Path) -> WorkerEnv:
    return make_env(
        engine,
        clock=clock,
        folder=tmp_path,
        data=str(tmp_path),
        alert_disk_free_bytes=0,
        webhook_protocols="http,https",
        webhook_private_addresses=True,
        webhook_time_limit_s=10.0,
    )
