"""Lists, search, figures and the blocklist, over the API: what is there, and what is refused in words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from tests.api.loaded import IDS, SLUGS, load_registry
from vskill_platform.domain.submission import CATEGORY_STATES, Category, SubmissionState
from vskill_platform.engines.memory import open_memory
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.postgres_server import empty_database
from vskill_platform.testing.submissions import submit
from vskill_platform.web.app import create_web_app
from vskill_platform.worker_context import run_with_worker_env

SUBMISSIONS = "/api/v1/submissions"


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest) -> str:
    """The kind of engine, or the address of its database."""
    return str(request.getfixturevalue("postgres_database") if request.param == "postgres" else request.param)


@pytest.fixture
async def engine(place: str, tmp_path: Path) -> AsyncIterator[Engine]:
    if place == "memory":
        opened: Engine = await open_memory(clock=SystemClock())
    elif place == "sqlite":
        opened = await open_sqlite(tmp_path / "registry.db", clock=SystemClock(), synchronous="OFF")
    else:
        await empty_database(place)
        opened = await open_postgres(place)
    await load_registry(opened)
    yield opened
    await opened.close()


@pytest.fixture
def env(engine: Engine, tmp_path: Path) -> WorkerEnv:
    return make_env(engine, clock=SystemClock(), folder=tmp_path)


@pytest.fixture
async def client(env: WorkerEnv) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=cast("Any", create_web_app(env)))
    async with httpx.AsyncClient(transport=transport, base_url="http://registry") as opened:
        yield opened


async def test_submissions_are_listed__filtered_sorted_and_counted(client: httpx.AsyncClient) -> None:
    listed = (await client.get(SUBMISSIONS)).json()
    assert (listed["total"], listed["limit"], listed["offset"], len(listed["submissions"])) == (len(IDS), 50, 0, 50)
    assert listed["counts"]["state"] == {state.value: 10 for state in SubmissionState}
    active = (await client.get(SUBMISSIONS, params={"state": "active", "limit": 500})).json()
    assert {row["state"] for row in active["submissions"]} == set(CATEGORY_STATES[Category.ACTIVE])
    one = (await client.get(SUBMISSIONS, params={"state": "PUBLISHED"})).json()
    assert (one["total"], {row["state"] for row in one["submissions"]}) == (10, {"PUBLISHED"})
    passed = (await client.get(SUBMISSIONS, params={"verdict": "PASS", "limit": 500})).json()
    assert {row["verdict"] for row in passed["submissions"]} == {"PASS"}
    there = (await client.get(SUBMISSIONS, params={"repoUrl": "GitHub.com/Acme/repository-3.git"})).json()
    assert {row["repoUrl"] for row in there["submissions"]} == {"https://github.com/acme/repository-3"}
    pages = [
        (
            await client.get(SUBMISSIONS, params={"sort": "skillName", "sortDir": "asc", "limit": 40, "offset": offset})
        ).json()
        for offset in (0, 40, 80)
    ]
    names = [row["skillName"] for page in pages for row in page["submissions"]]
    assert (names, len(set(names))) == (sorted(names), len(IDS))
    assert (await client.get(SUBMISSIONS, params={"offset": 1_000_000})).json()["submissions"] == []


async def test_submissions_are_searched__by_words_of_two_characters_on(client: httpx.AsyncClient) -> None:
    found = (await client.get(f"{SUBMISSIONS}/search", params={"q": "pdf forms", "limit": 500})).json()
    assert found["total"] == 24
    assert all("pdf forms" in row["skillName"] for row in found["submissions"])
    assert (await client.get(f"{SUBMISSIONS}/search", params={"q": "処理"})).json()["total"] == 24
    short = await client.get(f"{SUBMISSIONS}/search", params={"q": "p"})
    assert (short.status_code, short.json()["code"], "q" in short.json()["detail"]) == (400, "invalid_input", True)


async def test_figures_agree_with_each_other(client: httpx.AsyncClient) -> None:
    stats = (await client.get(f"{SUBMISSIONS}/stats")).json()
    assert stats["total"] == sum(stats["byCategory"].values()) == sum(stats["byState"].values()) == len(IDS)
    overall = (await client.get("/api/v1/stats")).json()
    assert overall["submissions"] == {**stats["byCategory"], "total": stats["total"]}
    assert overall["skills"]["total"] == sum(overall["skills"]["byCategory"].values()) == len(SLUGS)
    rejected = (await client.get("/api/v1/rejections", params={"limit": 500})).json()
    assert rejected["total"] == len(rejected["rejections"]) == stats["byCategory"]["rejected"]
    assert (await client.get("/api/v1/stats/health")).json()["status"] == "ok"
    queue = (await client.get("/api/v1/queue/health")).json()
    assert (queue["status"], queue["queue"]["waiting"], queue["stuck"]) == ("ok", 0, 0)


async def test_blocklist_is_paged_to_its_end__and_304_while_nothing_changes(client: httpx.AsyncClient) -> None:
    keys: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        asked = {"limit": 5, **cursor}
        page = await client.get("/api/v1/blocklist", params=asked)
        keys += [entry["key"] for entry in page.json()["entries"]]
        same = await client.get(
            "/api/v1/blocklist", params={"limit": 5, **cursor}, headers={"If-None-Match": page.headers["ETag"]}
        )
        assert same.status_code == 304
        if page.json()["cursor"] is None:
            break
        cursor = {"cursor": page.json()["cursor"]}
    assert (len(keys), len(set(keys))) == (14, 14)
    wrong = await client.get("/api/v1/blocklist", params={"cursor": "made up"})
    assert (wrong.status_code, wrong.json()["code"]) == (400, "invalid_cursor")


@pytest.mark.parametrize(
    ("asked", "kinds"),
    [
        ({"hash": f"sha256:{3:064x}"}, ["digest"]),
        ({"name": "evil-skill"}, ["name"]),
        ({"name": "Evil-Skill", "repoUrl": "https://github.com/evil/everything"}, ["repository", "name"]),
        ({"repoUrl": "git@github.com:evil/everything.git"}, ["repository"]),
        ({"name": "good-skill", "hash": "sha256:00", "repoUrl": "https://github.com/acme/good"}, []),
    ],
)
async def test_blocklist_says_what_stands_against_something(
    client: httpx.AsyncClient, asked: dict[str, str], kinds: list[str]
) -> None:
    answer = (await client.get("/api/v1/blocklist/check", params=asked)).json()
    assert (answer["blocked"], [entry["kind"] for entry in answer["entries"]]) == (bool(kinds), kinds)


async def test_blocklist_check_needs_something_to_check(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/v1/blocklist/check")
    assert (answer.status_code, "repoUrl" in answer.json()["detail"]) == (400, True)


async def test_kept_list_is_made_anew__as_soon_as_something_happens(env: WorkerEnv, client: httpx.AsyncClient) -> None:
    for _ in range(3):
        assert (await client.get(SUBMISSIONS)).json()["total"] == len(IDS)
    await run_with_worker_env(env, lambda: submit("new"))
    listed = (await client.get(SUBMISSIONS)).json()
    assert (listed["total"], listed["submissions"][0]["skillName"]) == (len(IDS) + 1, "new")


async def test_retry_submits_again__and_says_how_it_stands(env: WorkerEnv, client: httpx.AsyncClient) -> None:
    created = (await client.post(SUBMISSIONS, json={"repoUrl": "https://github.com/acme/fresh"})).json()
    again = await client.post(f"{SUBMISSIONS}/{created['id']}/retry")
    assert (again.status_code, again.json()["status"], again.json()["id"]) == (200, "pending", created["id"])
    missing = await client.post(f"{SUBMISSIONS}/sub_nothing/retry")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    view = (await client.get(f"{SUBMISSIONS}/{IDS[6]}")).json()
    assert (view["state"], view["stageTimings"], view["publishedSkillName"]) == (
        "PUBLISHED",
        {"fetch": 6, "scan": 12},
        SLUGS[6],
    )
