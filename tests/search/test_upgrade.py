"""A registry that the version before has left, opened by this one: it is listed, searched, filtered and counted like any."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import asyncpg
import msgspec

from vskill_platform.app import open_env
from vskill_platform.domain.catalog import CATALOG_FORM, SKILLS
from vskill_platform.domain.search_terms import document_terms
from vskill_platform.engines.postgres.schema import migrations as postgres_migrations
from vskill_platform.engines.sqlite.documents import encode_terms
from vskill_platform.engines.sqlite.schema import APPLICATION_ID
from vskill_platform.engines.sqlite.schema import migrations as sqlite_migrations
from vskill_platform.ports.catalog import CatalogQuery
from vskill_platform.settings import Settings
from vskill_platform.stores.skills import SkillQuery, search_skills
from vskill_platform.testing.postgres_server import PostgresServer
from vskill_platform.worker_context import run_with_worker_env

OLD_SQLITE_STEPS, OLD_POSTGRES_STEPS = 3, 5
"""How many steps the schema of the version before had."""
SKILLS_BEFORE = {
    "acme/tools/pdf-filler": "Fills forms in documents",
    "acme/tools/database-mover": "Moves databases 数据库",
}


def old_record(slug: str, description: str) -> bytes:
    """A skill's record as the version before wrote it."""
    record = {
        "v": 1,
        "slug": slug,
        "name": slug.rsplit("/", 1)[-1],
        "repoUrl": "https://github.com/acme/tools",
        "description": description,
        "category": "documents",
        "publisher": "acme",
        "version": "1.0.0",
        "tier": "VERIFIED",
        "score": 97,
        "publishedAt": "2026-02-21T10:00:00.000Z",
        "updatedAt": "2026-02-22T10:00:00.000Z",
    }
    return msgspec.json.encode(record)


def old_document(slug: str, description: str) -> tuple[Sequence[Any], tuple[str, ...]]:
    """Facets, sorts and row of its document, and its terms."""
    name = slug.rsplit("/", 1)[-1]
    row = msgspec.json.encode({"slug": slug, "name": name, "repoUrl": "https://github.com/acme/tools"})
    return (slug, "VERIFIED", "documents", "acme", 1, 97, name, row), document_terms(f"{name} {slug} {description}")


def make_old_file(path: Path) -> None:
    old = apsw.Connection(str(path))
    for step in sqlite_migrations()[:OLD_SQLITE_STEPS]:
        old.execute(step)
    for number, (slug, description) in enumerate(SKILLS_BEFORE.items(), start=1):
        fields, terms = old_document(slug, description)
        *columns, row = fields
        value = old_record(slug, description)
        old.execute("INSERT INTO kv (key, version, value) VALUES (?, ?, ?)", (f"skill:{slug}", number, value))
        old.execute(
            "INSERT INTO catalog_skills (id, tier, category, publisher, updated, score, name, row, terms) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*columns, row, encode_terms(terms)),
        )
        old.execute("INSERT INTO catalog_skills_terms (rowid, terms) VALUES (?, ?)", (number, encode_terms(terms)))
    old.execute("UPDATE sequence SET last = 2")
    old.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    old.execute(f"PRAGMA user_version = {OLD_SQLITE_STEPS}")
    old.close()


async def make_old_database(url: str) -> None:
    connection = await asyncpg.connect(url, server_settings={"search_path": "vskill"})
    await connection.execute("CREATE SCHEMA vskill")
    await connection.execute(
        "CREATE TABLE schema_step (number integer PRIMARY KEY, least_code integer NOT NULL, "
        "at timestamptz NOT NULL DEFAULT now())"
    )
    for number, step in enumerate(postgres_migrations()[:OLD_POSTGRES_STEPS], start=1):
        await connection.execute(step.sql)
        await connection.execute("INSERT INTO schema_step VALUES ($1, $2)", number, step.least_code)
    for version, (slug, description) in enumerate(SKILLS_BEFORE.items(), start=1):
        fields, terms = old_document(slug, description)
        value = old_record(slug, description)
        await connection.execute(
            "INSERT INTO kv (key, version, value) VALUES ($1, $2, $3)", f"skill:{slug}", version, value
        )
        await connection.execute(
            "INSERT INTO catalog_skills (id, tier, category, publisher, updated, score, name, row) "
            "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            *fields,
        )
        await connection.execute(
            "INSERT INTO catalog_skills_terms VALUES ($1, array_to_tsvector($2::text[]))", slug, list(terms)
        )
    await connection.close()


async def look(settings: Settings) -> None:
    """Open twice: what the first opening brought over, the second finds as it is."""
    for _ in range(2):
        async with open_env(settings) as env:

            async def search(**fields: Any) -> list[str]:
                found = await search_skills(SkillQuery(**fields))
                assert found.total == len(found.rows)
                return [row.slug for row in found.rows]

            async def check() -> None:
                assert await search() == sorted(SKILLS_BEFORE, reverse=True)
                assert await search(search="databse") == ["acme/tools/database-mover"]
                assert await search(search="数据") == ["acme/tools/database-mover"]
                assert await search(search="pd") == ["acme/tools/pdf-filler"]
                assert await search(publisher=("acme",), sort="published") == sorted(SKILLS_BEFORE, reverse=True)
                found = await search_skills(SkillQuery(search="forms", counts=("category", "capability")))
                assert found.rows[0].published_at == "2026-02-21T10:00:00.000Z"
                assert (found.rows[0].verdict, found.rows[0].installs) == ("", 0)
                assert found.counts == {"category": {"documents": 1}, "capability": {}}

            await run_with_worker_env(env, check)
            assert await env.catalog.form() == CATALOG_FORM
            assert (await env.catalog.query(CatalogQuery(SKILLS))).total == len(SKILLS_BEFORE)


async def test_data_folder_of_the_version_before_opens_and_is_searched(tmp_path: Path) -> None:
    make_old_file(tmp_path / "registry.db")
    await look(Settings(data=str(tmp_path)))


async def test_database_of_the_version_before_opens_and_is_searched(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    url = postgres_server.url(postgres_server.create_database())
    await make_old_database(url)
    await look(Settings(data=str(tmp_path), database_url=url))
