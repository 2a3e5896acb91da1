"""A registry without its web server: a real engine, real git over loopback, real scanning processes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.pipeline.journey import Journey
from vskill_platform.engines.memory import open_memory
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ingest.git import GitSource
from vskill_platform.pipeline.process import process_message
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.engine import Engine
from vskill_platform.scanning.pool import ScannerPool
from vskill_platform.settings import convert_settings
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.git_server import serve_repositories

LOOPBACK = {"allow_private_addresses": True, "git_protocols": "http", "scan_processes": 1, "fetch_time_limit_s": 20}


@pytest.fixture(params=["memory", "sqlite"])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engine]:
    if request.param == "memory":
        opened: Engine = await open_memory(clock=SystemClock())
    else:
        opened = await open_sqlite(tmp_path / "registry.db", clock=SystemClock(), synchronous="OFF")
    yield opened
    await opened.close()


@pytest.fixture
async def journey(engine: Engine, tmp_path: Path) -> AsyncIterator[Journey]:
    settings = convert_settings(LOOPBACK)
    repositories = tmp_path / "repositories"
    repositories.mkdir()
    async with (
        serve_repositories(repositories) as address,
        GitSource(settings, folder=tmp_path / "fetched") as source,
        ScannerPool(settings) as scanner,
    ):
        env = make_env(
            engine,
            clock=SystemClock(),
            folder=tmp_path,
            source=source,
            scanner=scanner,
            process=process_message,
            **LOOPBACK,
        )
        yield Journey(env=env, repositories=repositories, address=address)
