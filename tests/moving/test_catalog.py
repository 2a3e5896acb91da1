"""The catalog is damaged in every way we know, and mended from the records while others write."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import apsw
import pytest

from tests.moving.houses import START_MS, Kind, all_documents, open_house, submission_operations
from vskill_platform.domain.catalog import SKILLS, SUBMISSIONS
from vskill_platform.domain.errors import InvalidCursor
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.moving.catalog import CatalogSlice, rebuild_catalog_slice
from vskill_platform.ports.catalog import CatalogQuery
from vskill_platform.ports.commit import Delete, Index, Operation, Put, Unindex
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.catalog import count_submissions
from vskill_platform.testing.builders import skill_document, submission_document
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.postgres_server import empty_database
from vskill_platform.testing.submissions import putting_skill, putting_submission, submission_at
from vskill_platform.worker_context import run_with_worker_env

SLICE = 50
SUBMITTED = 123
"""More than two slices of records."""


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest) -> tuple[Kind, str]:
    """An engine, and the URL of its database where it needs one."""
    return request.param, request.getfixturevalue("postgres_database") if request.param == "postgres" else ""


@pytest.fixture
async def env(place: tuple[Kind, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[WorkerEnv]:
    """A registry of some slices. Slices are short, so that a few records fill them."""
    monkeypatch.setattr("vskill_platform.moving.catalog._SLICE_RECORDS", SLICE)
    kind, url = place
    if url:
        await empty_database(url)
    async with open_house(kind, tmp_path, url=url) as house:
        await house.engine.writes.commit(submission_operations(SUBMITTED, tar_digest="sha256:00"))
        slugs = ["acme/a/one", "acme/a/two", "zeta/größe/技能"]
        skills = [operation for slug in slugs for operation in putting_skill(slug, description=f"打招呼 for {slug}")]
        await house.engine.writes.commit([*skills, Put("skill:alias:acme/old", b"acme/a/one")])
        yield make_env(house.engine, clock=house.clock, folder=tmp_path)


async def rebuild(env: WorkerEnv, *, is_dry_run: bool = False) -> CatalogSlice:
    """Every slice of a walk, added up."""

    async def walk() -> CatalogSlice:
        counts = dict.fromkeys(("examined", "missing", "differing", "unbacked", "malformed"), 0)
        told: list[str] = []
        cursor: str | None = None
        while True:
            found = await rebuild_catalog_slice(cursor, is_dry_run=is_dry_run)
            counts = {name: counts[name] + getattr(found, name) for name in counts}
            told += found.told
            cursor = found.cursor
            if cursor is None:
                return CatalogSlice(**counts, told=told, cursor=None)

    return await run_with_worker_env(env, walk)


async def everything(env: WorkerEnv) -> list[object]:
    """All documents, and the counts that pages show."""
    documents = [one for page in await pages(env) for one in page]
    return [documents, await run_with_worker_env(env, count_submissions)]


async def pages(env: WorkerEnv) -> list[list[object]]:
    found: list[list[object]] = []
    for collection in (SUBMISSIONS, SKILLS):
        after = ""
        while page := await env.catalog.documents(collection, after=after):
            found.append(list(page))
            after = page[-1].id
    return found


def differences(found: CatalogSlice) -> tuple[int, int, int, int]:
    return found.missing, found.differing, found.unbacked, found.malformed


async def test_rebuild_finds_nothing__in_a_catalog_that_is_right(env: WorkerEnv) -> None:
    found = await rebuild(env)
    assert differences(found) == (0, 0, 0, 0)
    assert (found.examined, found.told) == (SUBMITTED + 3, [])


async def test_rebuild_mends_what_is_missing_false_and_changed__and_a_dry_run_only_says_so(env: WorkerEnv) -> None:
    right = await everything(env)
    identities = [str(document.id) for document in await env.catalog.documents(SUBMISSIONS)]
    damage: list[Operation] = [
        *(Unindex(SUBMISSIONS, identity) for identity in identities[7:20]),
        Unindex(SKILLS, "zeta/größe/技能"),
        *(Index(submission_document(identity, state="PUBLISHED")) for identity in identities[30:35]),
        *(Index(submission_document(f"false {number}")) for number in range(1100)),
        Index(skill_document("acme/a/false", text="打招呼")),
        Index(skill_document("alias:acme/old", text="an alias is no skill")),
        Index(skill_document("x" * 600, text="no key can back this")),
    ]
    await env.writes.commit(damage)
    wrong = await everything(env)
    said = await rebuild(env, is_dry_run=True)
    assert await everything(env) == wrong
    done = await rebuild(env)
    assert differences(said) == differences(done)
    assert differences(done)[:2] == (14, 5)
    assert await everything(env) == right
    assert differences(await rebuild(env)) == (0, 0, 0, 0)
    found = await env.catalog.query(CatalogQuery(SKILLS, search="打招呼"))
    assert found.total == 3
    assert any("has no document" in sentence for sentence in done.told)


async def test_rebuild_leaves_the_document_of_a_record_that_cannot_be_read__and_counts_it(env: WorkerEnv) -> None:
    (identity, *_) = [str(document.id) for document in await env.catalog.documents(SUBMISSIONS, limit=1)]
    right = await everything(env)
    await env.writes.commit([Put(f"sub:{identity}", b"{broken"), Put("sub:other", b'{"id":"another"}')])
    await env.writes.commit([Put("skill:acme/odd", b'{"slug":"acme/even"}')])
    assert differences(await rebuild(env)) == (0, 0, 0, 3)
    assert await everything(env) == right


async def test_rebuild_is_safe__while_records_change(env: WorkerEnv) -> None:
    """Writers create, move and delete submissions, each with its document, while the walk mends real damage."""
    await env.writes.commit([Unindex(SUBMISSIONS, str(one.id)) for one in await env.catalog.documents(SUBMISSIONS)])
    stopping = asyncio.Event()

    async def write(writer: int) -> None:
        number = 0
        while not stopping.is_set():
            number += 1
            identity = f"sub_{number % 40:032x}{writer}"
            states = (SubmissionState.RECEIVED, SubmissionState.REJECTED, SubmissionState.NEEDS_REVIEW)
            submission = submission_at(states[number % 3], updated_ms=START_MS + number, identity=identity)
            await env.writes.commit(putting_submission(submission))
            if number % 5 == 0:
                await env.writes.commit([Delete(f"sub:{identity}"), Unindex(SUBMISSIONS, identity)])
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for writer in range(3):
            group.create_task(write(writer))
        await rebuild(env)
        await rebuild(env)
        stopping.set()
    assert differences(await rebuild(env, is_dry_run=True)) == (0, 0, 0, 0)


async def test_rebuild_refuses_a_cursor_that_it_did_not_give(env: WorkerEnv) -> None:
    for cursor in ("", "x", '{"collection":"of stamps"}', '{"collection":"skills","listing":"?"}'):
        with pytest.raises(InvalidCursor):
            await run_with_worker_env(env, lambda cursor=cursor: rebuild_catalog_slice(cursor, is_dry_run=True))


DAMAGE = {
    "rows are gone": "DELETE FROM catalog_submissions WHERE number % 3 = 0",
    "a facet is changed": "UPDATE catalog_submissions SET state = 'PUBLISHED' WHERE number < 9",
    "a sort is changed": "UPDATE catalog_skills SET score = score + 1, name = ''",
    "the row is changed": "UPDATE catalog_skills SET row = x'7b7d'",
    "the terms are changed": "UPDATE catalog_skills SET terms = 'zz' WHERE number = 1",
    "the search index is empty": "DELETE FROM catalog_skills_terms WHERE rowid < 9",
    "the search index has other words": """
        DELETE FROM catalog_skills_terms WHERE rowid = 2;
        INSERT INTO catalog_skills_terms (rowid, terms) VALUES (2, '616263')
    """,
    "ids are false": "UPDATE catalog_submissions SET id = id || '-false' WHERE number < 5",
    "everything is gone": "DELETE FROM catalog_submissions; DELETE FROM catalog_skills",
}


@pytest.mark.parametrize("sql", DAMAGE.values(), ids=DAMAGE.keys())
async def test_rebuild_mends_the_tables__when_something_else_has_written_to_them(sql: str, tmp_path: Path) -> None:
    async with open_house("sqlite", tmp_path) as house:
        env = make_env(house.engine, clock=house.clock, folder=tmp_path)
        await house.engine.writes.commit(submission_operations(30, tar_digest="sha256:00"))
        for slug in ("acme/a/one", "acme/a/two"):
            await house.engine.writes.commit(putting_skill(slug, description="打招呼"))
        right = await everything(env)
        with apsw.Connection(str(tmp_path / "registry.db")) as connection:
            connection.execute(sql)
        connection.close()
        assert sum(differences(await rebuild(env, is_dry_run=True))) > 0
        await rebuild(env)
        assert await everything(env) == right
        assert len(await all_documents(house.engine)) == 32
        for search in ("打招呼", "one", "acme"):
            found = await house.engine.catalog.query(CatalogQuery(SKILLS, search=search))
            assert found.total == (1 if search == "one" else 2)
        found = await house.engine.catalog.query(CatalogQuery(SUBMISSIONS, search="技能"))
        assert found.total == 30
        assert differences(await rebuild(env)) == (0, 0, 0, 0)
