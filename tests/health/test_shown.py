"""What people and programs are shown of a skill's source, and what the operator can do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import httpx
import msgspec
import pytest

from tests.admin.test_acting import client_of, read_entries
from tests.health.conftest import Registry
from tests.pages.planting import plant
from vskill_platform.domain.access import Role
from vskill_platform.domain.errors import StoreUnavailable
from vskill_platform.domain.repo_health import RepositoryHealth, RepoStatus, repository_key
from vskill_platform.domain.source_change import SourceChange, SourceChangeKind
from vskill_platform.ports.commit import Put
from vskill_platform.stores.records import encode_record
from vskill_platform.stores.repo_health import putting_source_change
from vskill_platform.testing.accounts import make_account, make_token
from vskill_platform.testing.hostile_servers import answer, hostile_server
from vskill_platform.web.app import create_web_app

URL = "https://github.com/acme/toolbox"
SLUG = "acme/toolbox/greeting"
PAGE = f"/skills/{SLUG}"
API = f"/api/v1/skills/{SLUG}"
THEN = "2026-02-20T08:00:00.000Z"
HEAD = "f" * 40
FIELDS = {"checked_at": THEN, "last_commit_at": "2025-12-24T00:00:00.000Z", "head": HEAD, "next_look_at": THEN}


async def know(registry: Registry, status: RepoStatus, *, repo_url: str = URL, **fields: object) -> None:
    """Keep what a look found."""
    health = msgspec.structs.replace(RepositoryHealth(repo_url=repo_url, status=status), **{**FIELDS, **fields})
    await registry.env.writes.commit([Put(repository_key(repo_url), encode_record(health))])


async def read(registry: Registry, *addresses: str) -> Sequence[httpx.Response]:
    async with client_of(create_web_app(registry.env)) as client:
        return [await client.get(address, headers={"Accept": "text/html, application/json"}) for address in addresses]


async def test_nothing_is_said_of_a_source__that_nobody_has_looked_at(registry: Registry) -> None:
    await plant(registry.env)
    page, detail, health = await read(registry, PAGE, API, f"{API}/health")
    assert "Looked at" not in page.text
    assert detail.json()["health"] is None
    assert health.json() == {"slug": SLUG, "repoUrl": URL, "health": None}


async def test_gone_source_is_told__and_the_skill_can_be_installed(registry: Registry) -> None:
    await plant(registry.env)
    await know(registry, RepoStatus.GONE, reason="not_there", known_status=RepoStatus.GONE, known_at=THEN)
    page, detail, listed, archive = await read(
        registry, PAGE, API, "/api/v1/skills", f"{API}/versions/1.0.0/archive.zip"
    )
    assert "The source of this skill is gone" in page.text
    assert "install-title" in page.text
    assert archive.status_code == 200
    assert detail.json()["health"]["status"] == "GONE"
    assert listed.json()["skills"][0]["sourceStatus"] == "GONE"


async def test_moved_source_is_told_with_its_new_address__as_a_link_that_is_safe(registry: Registry) -> None:
    await plant(registry.env)
    await know(registry, RepoStatus.MOVED, moved_to="https://github.com/acme/new-home")
    page, health = await read(registry, PAGE, f"{API}/health")
    assert 'href="https://github.com/acme/new-home" rel="nofollow noopener ugc"' in page.text
    assert health.json()["health"]["movedTo"] == "https://github.com/acme/new-home"
    await know(registry, RepoStatus.MOVED, moved_to="javascript:alert(1)")
    (page,) = await read(registry, PAGE)
    assert 'href="javascript:' not in page.text


async def test_unknown_says_why__and_what_was_known_before(registry: Registry) -> None:
    await plant(registry.env)
    await know(
        registry,
        RepoStatus.UNKNOWN,
        reason="rate_limited",
        known_status=RepoStatus.STALE,
        known_at="2026-01-02T00:00:00Z",
    )
    page, health = await read(registry, PAGE, f"{API}/health")
    assert "The host asked not to be asked for a while." in page.text
    assert "It was stale on" in page.text
    assert health.json()["health"]["knownStatus"] == "STALE"


async def test_changed_source_is_told_and_offered__on_the_newest_version_alone(registry: Registry) -> None:
    await plant(registry.env, version="1.0.0", files={"SKILL.md": b"---\nname: greeting\n---\nOld.\n"})
    version = await plant(registry.env, version="1.0.1")
    await know(registry, RepoStatus.ONLINE)
    change = SourceChange(
        slug=SLUG, kind=SourceChangeKind.CHANGED, head=HEAD, published_digest=version.content_digest, seen_at=THEN
    )
    await registry.env.writes.commit([putting_source_change(change)])
    newest, older, health = await read(registry, PAGE, f"{PAGE}/versions/1.0.0", f"{API}/health")
    assert "The source has changed since it was verified." in newest.text
    assert f'href="/submit?url={URL.replace(":", "%3A")}"' in newest.text
    assert "The source has changed" not in older.text
    assert health.json()["health"]["change"]["kind"] == "changed"
    submitted = msgspec.structs.replace(change, submission_id="sub_1")
    await registry.env.writes.commit([putting_source_change(submitted)])
    (page,) = await read(registry, PAGE)
    assert 'href="/submissions/sub_1"' in page.text


async def test_change_is_no_longer_told__once_other_bytes_are_published(registry: Registry) -> None:
    await plant(registry.env)
    await know(registry, RepoStatus.ONLINE)
    change = SourceChange(
        slug=SLUG, kind=SourceChangeKind.CHANGED, head=HEAD, published_digest="sha256:before", seen_at=THEN
    )
    await registry.env.writes.commit([putting_source_change(change)])
    page, health = await read(registry, PAGE, f"{API}/health")
    assert "The source has changed" not in page.text
    assert health.json()["health"]["change"] is None


async def test_health_is_an_error__when_the_store_cannot_be_read(registry: Registry) -> None:
    await plant(registry.env)

    class Failing:
        """The store, less what is known of repositories."""

        def __getattr__(self, name: str) -> object:
            return getattr(registry.env.kv, name)

        async def get(self, key: str) -> object:
            if key.startswith("repository:"):
                raise StoreUnavailable("The disk is gone.")
            return await registry.env.kv.get(key)

    failing = Registry(replace(registry.env, kv=Failing()), registry.clock)  # type: ignore[arg-type]
    for found in await read(failing, PAGE, API, f"{API}/health"):
        assert (found.status_code, "retry-after" in found.headers) == (503, True)


async def test_operator_has_a_repository_looked_at_now__by_an_act_that_is_told(registry: Registry) -> None:
    async with hostile_server(answer(500)) as server:
        repo_url = f"http://127.0.0.1:{server.port}/acme/toolbox"
        slug = "127-0-0-1-acme/toolbox/greeting"
        await registry.publish(slug, repo_url)
        await registry.round()
        assert (await registry.round())["looked"] == 0
        account = await make_account(registry.env, "ada", Role.REVIEWER)
        async with client_of(create_web_app(registry.env)) as client:
            client.headers["Authorization"] = f"Bearer {await make_token(registry.env, account)}"
            body = {"slug": slug, "reason": "It is back."}
            assert (await client.post("/api/v1/admin/skills/look", json=body)).status_code == 200
            page = (await client.get(f"/admin/skills/{slug}")).text
            missing = await client.post("/api/v1/admin/skills/look", json={**body, "slug": "a/b/c"})
        assert (await registry.round())["looked"] == 1
    assert missing.status_code == 404
    assert "The host answered with an error." in page
    assert [entry.act for entry in await read_entries(registry.env)] == ["skills.look"]


@pytest.mark.parametrize("act", ["look", "submit-again"])
async def test_pushed_skill_has_no_source_to_ask__and_says_so(registry: Registry, act: str) -> None:
    await registry.publish("acme/registry/pushed", "")
    account = await make_account(registry.env, "ada", Role.REVIEWER)
    async with client_of(create_web_app(registry.env)) as client:
        client.headers["Authorization"] = f"Bearer {await make_token(registry.env, account)}"
        body = {"slug": "acme/registry/pushed", "reason": "Why not."}
        refused = await client.post(f"/api/v1/admin/skills/{act}", json=body)
    assert (refused.status_code, refused.json()["code"]) == (409, "illegal_transition")
