"""A server that dies with everything it was doing, and comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from vskill_platform.domain.errors import CommitUnknown, StoreUnavailable
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.ports.commit import Emit, Put
from vskill_platform.testing.postgres_server import PostgresServer
from vskill_platform.testing.waits import until

WRITERS = 8


@pytest.fixture
async def crashing_server() -> AsyncIterator[PostgresServer]:
    """A server of the test's own, which syncs as it does in service."""
    server = PostgresServer()
    server.start()
    yield server
    server.stop()


async def test_everything_acknowledged_is_there__when_every_backend_was_killed_under_load(
    crashing_server: PostgresServer,
) -> None:
    url = crashing_server.url(crashing_server.create_database())
    engine = await open_postgres(url, lookup_limit_s=20)
    attempted: set[str] = set()
    acknowledged: set[str] = set()
    is_over = asyncio.Event()

    async def write(writer: int) -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            key = f"{writer}:{number}"
            attempted.add(key)
            try:
                await engine.writes.commit([Put(key, b""), Emit("kind", key, b"")])
            except (StoreUnavailable, CommitUnknown):
                await asyncio.sleep(0.05)
            else:
                acknowledged.add(key)

    async with asyncio.TaskGroup() as group:
        for writer in range(WRITERS):
            group.create_task(write(writer))
        for _ in range(2):
            await _more(acknowledged, by=50)
            await asyncio.to_thread(crashing_server.kill)
            await asyncio.to_thread(crashing_server.start)
        await _more(acknowledged, by=50)
        is_over.set()
    stored = {key async for chunk in engine.kv.scan("") for key, _ in chunk}
    await engine.close()
    assert acknowledged - stored == set()
    assert stored - attempted == set()


async def _more(acknowledged: set[str], *, by: int) -> None:
    """Return when so many more were acknowledged."""
    enough = len(acknowledged) + by
    await until(lambda: len(acknowledged) >= enough, what=f"{by} more are acknowledged")
