"""An env on the memory engine, and clients for whoever comes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from litestar.types import ASGIApp

from tests.faults.figures import FIGURE, Tell
from vskill_platform.engines.memory import open_memory
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.web.app import create_web_app

HOST = "registry.example"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def env(tmp_path: Path, clock: FakeClock) -> AsyncIterator[WorkerEnv]:
    engine = await open_memory(clock=clock)
    # The matrix asks every route as everybody, at one moment of the clock: more than one address may ask in a minute.
    yield make_env(engine, clock=clock, folder=tmp_path, requests_per_minute=100_000)
    await engine.close()


@pytest.fixture
async def client(env: WorkerEnv) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who comes over HTTPS."""
    async with client_of(create_web_app(env)) as opened:
        yield opened


def client_of(app: ASGIApp, *, scheme: str = "https", address: str = "192.0.2.1") -> httpx.AsyncClient:
    """A client of an application, from an address."""
    transport = httpx.ASGITransport(app=cast("Any", app), client=(address, 1))
    return httpx.AsyncClient(transport=transport, base_url=f"{scheme}://{HOST}")


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Tell:
    """Have pytest print a line at its end."""
    return lambda line: record_property(FIGURE, line)
