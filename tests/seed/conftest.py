"""What the seed tests run on: each engine in turn, a clock that stands still, and envs over them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from tests.seed.planting import OpenEngine, open_kind
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.probe import PlainProbe


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
async def open_engine(request: pytest.FixtureRequest, clock: FakeClock, tmp_path: Path) -> AsyncIterator[OpenEngine]:
    """Opens engines of one kind, each with a store of its own, and closes them after the test."""
    numbers = count()
    async with AsyncExitStack() as opened:

        async def open_one() -> Engine:
            engine = await open_kind(request.param, tmp_path / f"engine-{next(numbers)}", clock=clock)
            opened.push_async_callback(engine.close)
            return engine

        yield open_one


@pytest.fixture
async def engine(open_engine: OpenEngine) -> Engine:
    return await open_engine()


@pytest.fixture
def env_with(engine: Engine, clock: FakeClock, tmp_path: Path) -> partial[WorkerEnv]:
    """Makes envs over the engine; `kv` stands in for the engine's own, everything else is a setting."""
    return partial(make_env, engine, clock=clock, folder=tmp_path)


@pytest.fixture(params=["plain", "native"])
def env(request: pytest.FixtureRequest, engine: Engine, env_with: partial[WorkerEnv]) -> WorkerEnv:
    """An env by either path: the plain one of gets and lists, and the engine's own."""
    return env_with(kv=PlainProbe(engine)) if request.param == "plain" else env_with()
