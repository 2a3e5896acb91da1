"""Discovery without any client: what the indexes say, to whom, and what never stands in one."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from urllib.parse import urljoin

import msgspec

from tests.api.skills.registry import client_of
from tests.clients.collecting import collect, open_private_path
from tests.clients.registry import HOST_PREFIX, LiveRegistry
from tests.pipeline.journey import skill_md
from vskill_platform import metrics
from vskill_platform.domain.skill import CertTier, Skill
from vskill_platform.stores.counts import get_counts
from vskill_platform.stores.versions import putting_version
from vskill_platform.testing.submissions import putting_skill
from vskill_platform.web.app import create_web_app
from vskill_platform.web.clients.discovery import SCHEMA, WELL_KNOWN
from vskill_platform.web.clients.listing import MOST_AT_ROOT

INDEX = "/.well-known/agent-skills/index.json"
FILES = {"SKILL.md": skill_md("greeting"), "docs/how to.md": b"Say it kindly.\n"}
_NAME = re.compile(r"(?!-|.*--|.*-$)[a-z0-9-]{1,64}")


async def names_at(registry: LiveRegistry, page: str) -> list[str]:
    """What the index of a page lists."""
    answer = await registry.http.get(f"{page}{INDEX}")
    assert answer.status_code == 200, (page, answer.text)
    return [entry["name"] for entry in answer.json()["skills"]]


async def status_at(registry: LiveRegistry, page: str) -> int:
    """How the index of a page is answered."""
    return (await registry.http.get(f"{page}{INDEX}")).status_code


async def test_index_holds_to_both_versions_of_the_standard(registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    answers = [await registry.http.get(f"/skills/{skill.slug}{known}/index.json") for known in WELL_KNOWN]
    assert answers[0].content == answers[1].content
    assert answers[0].headers["Content-Type"].startswith("application/json")
    said = answers[0].json()
    assert said["$schema"] == "https://schemas.agentskills.io/discovery/0.2.0/schema.json" == SCHEMA
    (entry,) = said["skills"]
    assert (entry["name"], entry["type"], entry["description"]) == ("greeting", "archive", "Greets people politely.")
    assert sorted(entry["files"]) == sorted(FILES)
    for answer in answers:
        for url in ("url", "zipUrl"):
            archive = await registry.http.get(urljoin(str(answer.url), entry[url]))
            assert f"sha256:{hashlib.sha256(archive.content).hexdigest()}" == entry["digest"], url
            assert archive.headers["Content-Type"] == "application/zip"
        base = str(answer.url).removesuffix("index.json")
        for path, content in FILES.items():
            file = await registry.http.get(f"{base}greeting/{path}")
            assert (file.status_code, file.content) == (200, content), path
        assert (await registry.http.get(f"{base}greeting/SKILL.md")).headers[
            "Content-Type"
        ] == "text/markdown; charset=utf-8"
        assert (await registry.http.get(f"{base}greeting/no.md")).status_code == 404
        assert (await registry.http.get(f"{base}other/SKILL.md")).status_code == 404


async def test_index_is_read_by_any_origin__with_a_tag_and_by_head(registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    address = f"/skills/{skill.slug}{INDEX}"
    whole, head = await registry.http.get(address), await registry.http.head(address)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Length"] == str(len(whole.content))
    assert whole.headers["Access-Control-Allow-Origin"] == "*"
    assert whole.headers["Cache-Control"] == "no-cache"
    again = await registry.http.get(address, headers={"If-None-Match": whole.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    await registry.publish("acme/tools/greeting", {**FILES, "docs/how to.md": b"Loudly.\n"})
    changed = await registry.http.get(address, headers={"If-None-Match": whole.headers["ETag"]})
    assert (changed.status_code, changed.json()["skills"][0]["version"]) == (200, "1.0.1")


async def test_index_lists_nothing_that_is_not_handed_out(registry: LiveRegistry) -> None:
    blocked = await registry.publish("acme/tools/greeting", FILES)
    held, yanked = await registry.publish("acme/tools/farewell"), await registry.publish("acme/tools/question")
    kept = await registry.publish("acme/tools/answer")
    slugs = [skill.slug for skill in (blocked, held, yanked, kept)]
    page = await collect(registry, "mine", *slugs, f"{kept.slug}-no", "acme/no/such")
    lists = [f"/publishers/{HOST_PREFIX}acme", f"/skills/{HOST_PREFIX}acme/tools", page]
    for place in lists:
        assert sorted(await names_at(registry, place)) == ["answer", "farewell", "greeting", "question"]
    await registry.block(blocked)
    await registry.quarantine(held.slug)
    await registry.yank(yanked.slug, "1.0.0")
    for place in lists:
        assert await names_at(registry, place) == ["answer"], place
    await registry.publish("acme/tools/answer", version="2.0.0")
    pinned = await collect(registry, "pinned", f"{kept.slug}@1.0.0")
    assert await names_at(registry, pinned) == ["answer"]
    await registry.yank(kept.slug, "1.0.0")
    assert await names_at(registry, pinned) == [], "nobody is given another version than was chosen"
    for skill in (blocked, held, yanked):
        assert await status_at(registry, f"/skills/{skill.slug}") == 410
    assert await status_at(registry, "/skills/acme/no/such") == 404
    assert await status_at(registry, "/publishers/nobody") == 404
    assert await status_at(registry, "/skills/nobody/nothing") == 404


async def test_index_names_a_version__where_the_address_does(registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    await registry.publish("acme/tools/greeting", version="2.0.0")
    for place, version in (("", "2.0.0"), ("/versions/1.0.0", "1.0.0"), ("@1.0.0", "1.0.0"), ("@greeting", "2.0.0")):
        said = (await registry.http.get(f"/skills/{skill.slug}{place}{INDEX}")).json()
        assert [entry["version"] for entry in said["skills"]] == [version], place
    await registry.yank(skill.slug, "1.0.0")
    assert await status_at(registry, f"/skills/{skill.slug}/versions/1.0.0") == 410
    assert await status_at(registry, f"/skills/{skill.slug}@3.0.0") == 404


async def test_index_has_names_that_clients_take__whatever_a_skill_calls_itself(registry: LiveRegistry) -> None:
    odd = {"SKILL.md": skill_md("Größe Überall")}
    oddly_called = await registry.publish("acme/tools/groesse", odd)
    await registry.publish("acme/tools/greeting")
    await registry.publish("acme/more/greeting")
    names = await names_at(registry, f"/publishers/{HOST_PREFIX}acme")
    assert sorted(names) == sorted([oddly_called.slug.rpartition("/")[2], "greeting", "tools-greeting"])
    assert all(_NAME.fullmatch(name) for name in names)


async def test_private_index_is_kept_by_nobody__and_gone_with_its_path(registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    page = await collect(registry, "secret", skill.slug, is_public=False)
    path = await open_private_path(registry, "secret")
    answer = await registry.http.get(f"{path}{INDEX}", headers={"Origin": "https://other.example"})
    assert [entry["name"] for entry in answer.json()["skills"]] == ["greeting"]
    assert (answer.headers["Cache-Control"], answer.headers["X-Robots-Tag"]) == ("no-store", "noindex")
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert await status_at(registry, page) == 404
    assert await status_at(registry, f"{path}x") == 404


async def test_root_index_is_short_and_chosen__however_much_there_is(registry: LiveRegistry) -> None:
    assert await names_at(registry, "") == []
    await registry.publish("acme/tools/greeting", FILES)
    assert await names_at(registry, "") == [], "nobody has vouched for it"
    await registry.trust("vendor")
    farewell = await registry.publish("vendor/tools/farewell")
    assert await names_at(registry, "") == ["farewell"]
    version = await registry.version(farewell.slug, "1.0.0")
    for number in range(MOST_AT_ROOT + 5):
        slug = f"many/skills/skill-{number}"
        copy = putting_version(msgspec.structs.replace(version, slug=slug, name=f"skill-{number}"))
        added = putting_skill(slug, tier=CertTier.CERTIFIED, version="1.0.0", updated_at=version.updated_at)
        await registry.env.writes.commit([*added, copy])
    said = (await registry.http.get(INDEX)).json()
    assert (len(said["skills"]), said["total"]) == (MOST_AT_ROOT, MOST_AT_ROOT + 6)


async def test_root_index_is_what_the_operator_has_chosen(registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    await collect(registry, "mine", skill.slug)
    await collect(registry, "secret", skill.slug, is_public=False)
    chosen = [("none", 200, 0), ("acme/mine", 200, 1), ("acme/secret", 404, 0), ("acme/no", 404, 0)]
    for root, status, count in chosen:
        env = replace(registry.env, settings=msgspec.structs.replace(registry.env.settings, discovery_root=root))
        async with client_of(create_web_app(env)) as client:
            answer = await client.get(INDEX)
            assert (answer.status_code, len(answer.json().get("skills", ()))) == (status, count), root
            if count:
                assert (await client.get("/.claude-plugin/marketplace.json")).json()["name"] == "vskill-registry"


async def checks_of(registry: LiveRegistry, skill: Skill) -> tuple[int, int, int]:
    """Installs, downloads and update checks of a skill."""
    counts = await registry.inside(lambda: get_counts(skill))
    return counts.installs, counts.downloads, counts.update_checks


def lists_counted(purpose: str) -> float:
    """How many lists this process has counted for a purpose."""
    return metrics.CLIENT_LISTS.labels(purpose)._value.get()


async def test_update_check_counts_as_nothing_else__once_an_hour_for_an_address(registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    page, check = f"/skills/{skill.slug}", {"X-Skills-Update-Check": "1"}
    before = lists_counted("install"), lists_counted("update_check")
    for _ in range(3):
        await registry.http.get(f"{page}{INDEX}", headers=check)
    archive = f"{page}/.well-known/agent-skills/-/greeting/1.0.0/archive.zip"
    assert (await registry.http.get(archive, headers=check)).status_code == 200
    assert await checks_of(registry, skill) == (0, 0, 1)
    assert (lists_counted("install"), lists_counted("update_check")) == (before[0], before[1] + 3)
    await registry.http.get(f"{page}{INDEX}")
    await registry.http.get(archive)
    assert await checks_of(registry, skill) == (0, 1, 1)
    shown = (await registry.http.get(f"/api/v1/skills/{skill.slug}/installs")).json()
    assert (shown["installs"], shown["downloads"], shown["updateChecks"]) == (0, 1, 1)


async def test_search_gives_what_skills_find_reads(registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting", FILES)
    await registry.publish("others/tools/greeting")
    answer = await registry.http.get("/api/search", params={"q": "greeting", "limit": 1})
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert (len(answer.json()["skills"]), answer.json()["total"]) == (1, 2)
    owned = (await registry.http.get("/api/search", params={"q": "greeting", "owner": skill.publisher})).json()
    (found,) = owned["skills"]
    assert (found["id"], found["name"], found["installs"]) == (skill.slug, "greeting", 0)
    assert found["source"] == f"{registry.address}/skills/{skill.slug}"
    assert (await registry.http.get("/api/search", params={"q": "zzzzqqqq"})).json() == {"skills": [], "total": 0}
    assert (await registry.http.get("/api/search", params={"limit": 1000})).status_code == 400
