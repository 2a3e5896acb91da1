"""A registry goes from SQLite to PostgreSQL and back with nothing lost and identical digests."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import asyncpg
import pytest

from tests.moving.houses import all_documents, export_house, fill_house, import_house, open_house
from tests.moving.test_real_content import make_content
from tests.pipeline.journey import Journey
from vskill_platform.domain.errors import ImportUnfinished
from vskill_platform.domain.ids import MessageId
from vskill_platform.moving.unpacking import House, import_registry, refuse_unfinished
from vskill_platform.ports.commit import Emit, Send
from vskill_platform.ports.engine import Engine


async def test_registry_goes_to_postgresql_and_back__with_identical_digests(postgres_url: str, tmp_path: Path) -> None:
    async with (
        open_house("sqlite", tmp_path / "old") as old,
        open_house("postgres", tmp_path / "middle", url=postgres_url) as middle,
        open_house("sqlite", tmp_path / "new") as new,
    ):
        await fill_house(old, submissions=1500)
        first = await export_house(old, tmp_path / "first")
        await import_house(middle, tmp_path / "first")
        second = await export_house(middle, tmp_path / "second")
        await import_house(new, tmp_path / "second")
        third = await export_house(new, tmp_path / "third")
        assert first.parts == second.parts == third.parts
        documents = await all_documents(old.engine)
        assert await all_documents(middle.engine) == documents
        assert await all_documents(new.engine) == documents


async def test_real_registry_moves_to_postgresql__and_its_log_and_queue_go_on(
    journey: Journey, engine: Engine, postgres_url: str, tmp_path: Path
) -> None:
    await make_content(journey)
    first = await export_house(House(engine, journey.env.blobs, journey.env.clock), tmp_path / "first")
    async with open_house("postgres", tmp_path / "new", url=postgres_url) as new:
        await import_house(new, tmp_path / "first")
        assert (await export_house(new, tmp_path / "second")).content == first.content
        last = await engine.events.last_sequence()
        await new.engine.writes.commit([Emit("k", "s", b""), Send("another", MessageId("new"), b"")])
        (event,) = (await new.engine.events.read(last)).events
        assert event.sequence > last
        assert len(await new.engine.queue.receive("submissions", max_messages=9, lease_s=1)) == 1


async def test_import_into_postgresql_goes_on__after_its_connections_were_cut_at_every_step(
    postgres_url: str, tmp_path: Path
) -> None:
    """Every run gets one step further before the server ends all its connections, until one gets through."""
    async with open_house("sqlite", tmp_path / "old") as old:
        await fill_house(old, submissions=1200)
        manifest = await export_house(old, tmp_path / "export")
    for run in count(1):
        async with open_house("postgres", tmp_path / "new", url=postgres_url) as new:
            try:
                await import_registry(new, folder=tmp_path / "export", progress=_Cut(after=run))
            except _Enough:
                await _end_connections(postgres_url)
                with pytest.raises(ImportUnfinished):
                    await refuse_unfinished(new.engine.kv)
            else:
                break
    assert run > 10
    async with open_house("postgres", tmp_path / "new", url=postgres_url) as new:
        assert (await export_house(new, tmp_path / "again")).parts == manifest.parts


class _Enough(Exception):
    """The import has come far enough for this run."""


class _Cut:
    """Progress that ends a run after so many steps of writing."""

    def __init__(self, *, after: int) -> None:
        self._left = after

    def __call__(self, doing: str, done: int, total: int | None) -> None:
        self._left -= doing.startswith("importing")
        if self._left == 0 and doing.startswith("importing"):
            raise _Enough


async def _end_connections(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    finally:
        await connection.close()
