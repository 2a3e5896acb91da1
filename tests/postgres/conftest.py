"""What these tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest

from vskill_platform.engines.postgres import PostgresEngine, open_postgres


@pytest.fixture
async def engines(postgres_url: str) -> AsyncIterator[list[PostgresEngine]]:
    """Two engines on one database, as two processes have them. Neither looks without a notice."""
    opened = [await open_postgres(postgres_url, application_name="listening", look_every_s=3600) for _ in range(2)]
    yield opened
    for engine in opened:
        await engine.close()


@pytest.fixture
async def connection(postgres_url: str) -> AsyncIterator[asyncpg.Connection]:
    """A connection of the test's own."""
    connected = await asyncpg.connect(postgres_url, server_settings={"search_path": "vskill"})
    yield connected
    await connected.close()
