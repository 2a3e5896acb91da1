"""A registry in memory for the tests of the panel."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from vskill_platform.engines.memory import open_memory
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env


@pytest.fixture
async def env(tmp_path: Path) -> AsyncIterator[WorkerEnv]:
    """An env over a memory engine, with a clock that stands."""
    clock = FakeClock()
    engine = await open_memory(clock=clock)
    yield make_env(engine, clock=clock, folder=tmp_path)
    await engine.close()
