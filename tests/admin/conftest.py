"""Registries for the tests of the panel, and those who work on them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import pytest

from tests.admin.test_acting import client_of
from vskill_platform.domain.access import Role
from vskill_platform.engines.memory import open_memory
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.accounts import make_account, make_token
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.web.app import create_web_app

As = Callable[[Role | None], Awaitable[httpx.AsyncClient]]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


ON_BOTH = pytest.mark.parametrize("registry", ["memory", "sqlite"], indirect=True)
"""For what the engines do differently; making an application takes longer than most tests of it."""


@pytest.fixture
async def registry(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> AsyncIterator[WorkerEnv]:
    """The env of a registry, in memory unless a test asks for both engines of one process."""
    if getattr(request, "param", "memory") == "memory":
        engine: Engine = await open_memory(clock=clock)
    else:
        engine = await open_sqlite(tmp_path / "registry.db", clock=clock, synchronous="OFF")
    yield make_env(engine, clock=clock, folder=tmp_path)
    await engine.close()


@pytest.fixture
async def acting_as(registry: WorkerEnv) -> AsyncIterator[As]:
    """Clients with the token of somebody who has a role; None is nobody."""
    clients: list[httpx.AsyncClient] = []
    app = create_web_app(registry)

    async def open_client(role: Role | None) -> httpx.AsyncClient:
        client = client_of(app)
        clients.append(client)
        if role is not None:
            account = await make_account(registry, role.value.lower().replace("_", "-"), role)
            client.headers["Authorization"] = f"Bearer {await make_token(registry, account)}"
        return client

    yield open_client
    for client in clients:
        await client.aclose()


@pytest.fixture
async def env(tmp_path: Path) -> AsyncIterator[WorkerEnv]:
    """An env over a memory engine, with a clock that stands."""
    clock = FakeClock()
    engine = await open_memory(clock=clock)
    yield make_env(engine, clock=clock, folder=tmp_path)
    await engine.close()
