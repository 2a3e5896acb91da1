"""The columns in memory follow the database, whoever writes to it, in whatever order transactions end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import apsw
import asyncpg
import pytest

from tests.moving.houses import open_house
from vskill_platform.domain.catalog import SKILLS
from vskill_platform.engines.postgres import PostgresEngine, open_postgres
from vskill_platform.engines.postgres.batch import Batch, Unit
from vskill_platform.ports.catalog import CatalogQuery
from vskill_platform.ports.commit import Index, Unindex
from vskill_platform.ports.engine import Engine
from vskill_platform.testing.builders import index_documents, skill_document


@pytest.fixture
async def engines(postgres_url: str) -> AsyncIterator[list[PostgresEngine]]:
    """Two processes' worth of engines on one database."""
    opened = [await open_postgres(postgres_url) for _ in range(2)]
    yield opened
    for engine in opened:
        await engine.close()


async def listed(engine: Engine, search: str = "") -> list[str]:
    page = await engine.catalog.query(CatalogQuery(SKILLS, search=search, sort="name", descending=False))
    assert page.total == len(page.rows)
    return [identity for identity, _ in page.rows]


async def test_another_process_sees_every_change__of_documents_words_and_removals(
    engines: list[PostgresEngine],
) -> None:
    writer, reader = engines
    assert await listed(reader) == []
    await index_documents(writer, [skill_document(id, name=id, text="first words") for id in ("a", "b", "c")])
    assert await listed(reader, "first") == ["a", "b", "c"]
    await writer.writes.commit([Unindex(SKILLS, "b"), Index(skill_document("c", name="c", text="other words"))])
    assert await listed(reader, "first") == ["a"]
    assert await listed(reader, "other") == ["c"]
    assert await listed(reader) == ["a", "c"]


async def test_document_of_a_transaction_that_ends_late_is_not_missed(
    engines: list[PostgresEngine], postgres_url: str
) -> None:
    """A transaction that began before others and ends after them has the lower id, and is seen later."""
    reader, writer = engines
    connection = await asyncpg.connect(postgres_url, server_settings={"search_path": "vskill"})
    late = Batch()
    late.add(Unit([Index(skill_document("late", name="late", text="words"))]))
    kinds, names, _, _, _, texts, contents = late.arguments()[5:12]
    assert kinds == (12,)
    transaction = connection.transaction()
    await transaction.start()
    collection, fields = texts[0].split(" ", 1)
    await connection.execute("SELECT index_document($1, $2, $3::jsonb, $4)", collection, names[0], fields, contents[0])
    for number in range(3):
        await index_documents(writer, [skill_document(f"soon{number}", name=f"s{number}", text="words")])
        assert len(await listed(reader, "words")) == number + 1
    await transaction.commit()
    await connection.close()
    assert await listed(reader, "words") == ["late", "soon0", "soon1", "soon2"]


async def test_columns_follow_the_file__when_something_else_writes_to_it(tmp_path: Path) -> None:
    async with open_house("sqlite", tmp_path) as house:
        documents = [skill_document(f"d{n}", name=f"n{n}", text="words", tier="one") for n in range(9)]
        await index_documents(house.engine, documents)
        assert len(await listed(house.engine, "words")) == 9
        with apsw.Connection(str(tmp_path / "registry.db")) as other:
            other.execute(
                "DELETE FROM catalog_skills WHERE id < 'd3'; UPDATE catalog_skills SET tier = 'two' WHERE id > 'd7'"
            )
        other.close()
        assert await listed(house.engine, "words") == [f"d{n}" for n in range(3, 9)]
        assert await house.engine.catalog.counts(SKILLS, "tier") == {"one": 5, "two": 1}


async def test_columns_are_made_anew__when_more_has_changed_than_the_log_keeps(tmp_path: Path) -> None:
    async with open_house("sqlite", tmp_path) as house:
        await index_documents(house.engine, [skill_document(f"d{n}", name=f"n{n}") for n in range(5)])
        assert len(await listed(house.engine)) == 5
        await house.engine.writes.commit([Unindex(SKILLS, "d0"), Index(skill_document("d1", name="z"))])
        with apsw.Connection(str(tmp_path / "registry.db")) as other:
            other.execute(
                "DELETE FROM catalog_skills_changes WHERE sequence < (SELECT max(sequence) FROM catalog_skills_changes)"
            )
        other.close()
        assert await listed(house.engine) == ["d2", "d3", "d4", "d1"]


async def test_answers_stay_whole__while_documents_come_change_and_go(tmp_path: Path, postgres_url: str) -> None:
    """Documents come, change and go in twos; no page, total or count is ever of half a commit."""

    async def write(engine: Engine, done: asyncio.Event) -> None:
        for number in range(60):
            twos = [
                skill_document(f"{side}{number % 20}", name=f"{side}{number}", text="word", tier=f"t{number % 3}")
                for side in "ab"
            ]
            await index_documents(engine, twos)
            if number % 4 == 3:
                await engine.writes.commit([Unindex(SKILLS, f"{side}{(number - 3) % 20}") for side in "ab"])
        done.set()

    async def read(engine: Engine, done: asyncio.Event) -> None:
        while not done.is_set():
            page = await engine.catalog.query(CatalogQuery(SKILLS, search="word", limit=1000, counts=("tier",)))
            assert page.total == len(page.rows) == sum(page.counts["tier"].values())
            assert all(count % 2 == 0 for count in page.counts["tier"].values())

    async with open_house("sqlite", tmp_path) as sqlite, open_house("postgres", tmp_path, url=postgres_url) as postgres:
        for engine in (sqlite.engine, postgres.engine):
            done = asyncio.Event()
            await asyncio.gather(write(engine, done), read(engine, done), read(engine, done), read(engine, done))


async def test_word_that_many_have_is_found_where_it_is_now__after_a_document_has_changed(
    tmp_path: Path, postgres_url: str
) -> None:
    """Who has such a word is remembered, until words change."""
    async with open_house("sqlite", tmp_path) as sqlite, open_house("postgres", tmp_path, url=postgres_url) as postgres:
        for engine in (sqlite.engine, postgres.engine):
            await index_documents(engine, [skill_document(f"d{n}", text="common") for n in range(300)])
            query = CatalogQuery(SKILLS, search="common", limit=1)
            assert [(await engine.catalog.query(query)).total for _ in range(2)] == [300, 300]
            await index_documents(
                engine, [skill_document("d7", text="rare"), skill_document("d8", text="common", score=1)]
            )
            assert (await engine.catalog.query(query)).total == 299
            await engine.writes.commit([Unindex(SKILLS, "d9")])
            assert (await engine.catalog.query(query)).total == 298
