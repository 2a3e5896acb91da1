"""Reading about published skills: lists, one skill, its versions, how it was judged, and what became of it."""

from __future__ import annotations

import pytest

from tests.api.skills.registry import OWNER, PLACE, SKILLS, SLUG, Registry
from tests.pipeline.journey import skill_md
from vskill_platform.domain.ids import alias_key
from vskill_platform.pipeline.blocking import block_and_stop, make_block
from vskill_platform.ports.commit import Put
from vskill_platform.ports.engine import Engine
from vskill_platform.testing.git_repos import executable

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(8)
pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_skill_is_told_from_list_to_finding__when_it_was_published(registry: Registry) -> None:
    files = {"SKILL.md": skill_md(), "scripts/hi.sh": executable(b"curl https://api.example.com/hi\n")}
    submission = await registry.journey.publish("acme/greeting", files)
    listed = await registry.read(SKILLS)
    assert [(row["slug"], row["version"]) for row in listed["skills"]] == [(SLUG, "1.0.0")]
    assert (listed["total"], listed["limit"], listed["offset"]) == (1, 50, 0)
    detail = await registry.read(PLACE)
    assert (detail["slug"], detail["verdict"], detail["submissionId"]) == (SLUG, "PASS", submission.id)
    assert detail["capabilities"]["networkHosts"] == ["api.example.com"]
    assert detail["counts"] == {"installs": 0, "downloads": 0, "updateChecks": 0, "stars": 0}
    for link in detail["links"].values():
        assert (await registry.get(link)).status_code == 200, link
    report = await registry.read(f"{PLACE}/security")
    assert (report["verdict"], report["score"], report["version"]) == ("PASS", detail["score"], "1.0.0")
    assert all({"excerpt", "why", "fix", "file", "line"} <= set(finding) for finding in report["findings"])
    sarif = await registry.get(f"{PLACE}/security.sarif")
    assert sarif.headers["Content-Type"] == "application/sarif+json"
    assert len(sarif.json()["runs"][0]["results"]) == len(report["findings"])


async def test_versions_are_compared_by_files_and_capabilities__when_there_are_two(registry: Registry) -> None:
    first = {"SKILL.md": skill_md(), "old.md": b"a\n", "dot.png": PICTURE + b"1"}
    await registry.journey.publish("acme/greeting", first)
    run = executable(b"curl https://api.example.com/hi\n")
    await registry.update(
        "acme/greeting", {"SKILL.md": skill_md(body="Wave."), "new.sh": run, "dot.png": PICTURE + b"2"}
    )
    versions = await registry.read(f"{PLACE}/versions")
    assert [row["version"] for row in versions["versions"]] == ["1.0.1", "1.0.0"]
    assert (await registry.read(PLACE))["versions"] == 2
    told = await registry.read(f"{PLACE}/versions/compare", **{"from": "1.0.0", "to": "1.0.1"})
    changes = {item["path"]: item for item in told["files"]}
    assert {path: item["change"] for path, item in changes.items()} == {
        "SKILL.md": "changed",
        "dot.png": "changed",
        "new.sh": "added",
        "old.md": "removed",
    }
    assert "-Greet the user by name.\n+Wave.\n" in changes["SKILL.md"]["diff"]
    assert (changes["dot.png"]["diff"], changes["dot.png"]["noDiff"]) == (None, "binary")
    assert changes["old.md"]["diff"] == "@@ -1,1 +0,0 @@\n-a\n"
    assert told["capabilities"]["added"]["networkHosts"] == ["api.example.com"]
    back = await registry.read(f"{PLACE}/versions/compare", **{"from": "1.0.1", "to": "1.0.0"})
    assert back["capabilities"]["removed"]["networkHosts"] == ["api.example.com"]
    capabilities = await registry.read(f"{PLACE}/capabilities")
    assert capabilities["capabilityChanges"]["since"] == "1.0.0"
    assert (await registry.read(f"{PLACE}/capabilities", version="1.0.0"))["capabilities"]["networkHosts"] == []
    assert await registry.refusal(f"{PLACE}/versions/compare", **{"from": "1.0.0", "to": "9.9.9"}) == (404, "not_found")
    assert await registry.refusal(f"{PLACE}/versions/compare") == (400, "invalid_input")


async def test_older_slug_leads_to_the_present_one__when_a_skill_was_renamed(registry: Registry) -> None:
    await registry.journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    await registry.update("acme/greeting", {"SKILL.md": skill_md("welcome")})
    present = f"{SKILLS}/{OWNER}/greeting/welcome"
    for way in (
        "",
        "/versions",
        "/versions/1.0.0",
        "/badge",
        "/security?version=1.0.0",
        "/versions/1.0.0/files/SKILL.md",
    ):
        answer = await registry.get(f"{PLACE}{way}")
        assert (answer.status_code, answer.headers["Location"]) == (308, f"{present}{way}"), way
        assert (await registry.get(answer.headers["Location"])).status_code == 200, way
    assert (await registry.get(f"{PLACE.upper().replace('/API/V1/SKILLS', SKILLS)}")).status_code == 404
    await registry.journey.env.writes.commit([Put(alias_key("acme-greeting"), f"{OWNER}/greeting/greeting".encode())])
    oldest = await registry.get(f"{SKILLS}/acme-greeting")
    assert (oldest.status_code, oldest.headers["Location"]) == (308, present)
    shouted = await registry.get(f"{SKILLS}/{OWNER}/Greeting/Welcome")
    assert (shouted.status_code, shouted.headers["Location"]) == (308, present)


async def test_blocked_skill_is_gone_and_says_why__when_a_person_blocked_it(registry: Registry) -> None:
    await registry.journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    block = await registry.journey.inside(lambda: _block("It phones home."))
    assert block
    for way in ("", "/versions", "/versions/1.0.0", "/versions/1.0.0/archive.zip", "/security", "/installs"):
        answer = await registry.get(f"{PLACE}{way}")
        assert (answer.status_code, answer.json()["code"]) == (410, "skill_withdrawn"), way
        assert "It phones home." in answer.json()["detail"]
    assert "withdrawn" in (await registry.get(f"{PLACE}/badge")).text
    assert (await registry.read(SKILLS))["total"] == 0
    checked = await registry.client.post(
        f"{SKILLS}/check-updates", json={"skills": [{"slug": SLUG, "version": "1.0.0"}]}
    )
    (told,) = checked.json()["skills"]
    assert (told["status"], told["reason"]) == ("withdrawn", "It phones home.")
    feed = await registry.get("/feeds/blocked.atom")
    assert "It phones home." in feed.text


async def _block(reason: str) -> list[str]:
    return await block_and_stop(make_block(skill_name="greeting", reason=reason))


async def test_unknown_things_are_not_found__whatever_is_asked_of_them(registry: Registry) -> None:
    await registry.journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    nowhere = [
        f"{SKILLS}/a/b/c",
        f"{SKILLS}/a/b/c/badge",
        f"{SKILLS}/no-such-alias",
        f"{SKILLS}/{'x' * 300}/b/c",
        f"{PLACE}/versions/9.9.9",
        f"{PLACE}/versions/{'9' * 300}",
        f"{PLACE}/versions/1.0.0/files/nothing.md",
        f"{PLACE}/versions/1.0.0/files/SKILL.md/more",
        "/api/v1/publishers/nobody",
        "/api/v1/reports/rep_nothing",
        "/.well-known/security.txt",
    ]
    for path in nowhere:
        assert await registry.refusal(path) == (404, "not_found"), path
    wrong: list[tuple[str, dict[str, object]]] = [
        (SKILLS, {"limit": 0}),
        (SKILLS, {"limit": 501}),
        (SKILLS, {"offset": 1_000_001}),
        (SKILLS, {"q": "x" * 513}),
        (SKILLS, {"sort": "colour"}),
        (SKILLS, {"sortDir": "up"}),
        (SKILLS, {"counts": "colour"}),
        (SKILLS, {"updatedSince": "yesterday"}),
        (SKILLS, {"updatedSince": "c.!"}),
        (SKILLS, {"updatedSince": "2026-01-01T00:00:00Z", "q": "x"}),
        (f"{SKILLS}/search", {}),
    ]
    for path, params in wrong:
        status, _ = await registry.refusal(path, **params)
        assert status == 400, (path, params)


async def test_updates_are_told_with_what_is_new__when_a_client_has_an_older_version(registry: Registry) -> None:
    await registry.journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    first = await registry.read(PLACE)
    await registry.update(
        "acme/greeting", {"SKILL.md": skill_md(), "hi.sh": executable(b"curl https://a.example.com\n")}
    )
    asked = [
        {"slug": SLUG, "version": "1.0.0"},
        {"slug": SLUG, "version": "1.0.1"},
        {"slug": SLUG, "contentDigest": first["contentDigest"]},
        {"slug": "a/b/c", "version": "1.0.0"},
    ]
    answer = await registry.client.post(f"{SKILLS}/check-updates", json={"skills": asked})
    assert answer.status_code == 200, answer.text
    told = answer.json()["skills"]
    assert [item["status"] for item in told] == ["outdated", "current", "outdated", "unknown"]
    assert told[0]["capabilityChanges"]["added"]["networkHosts"] == ["a.example.com"]
    assert (told[0]["version"], told[2]["capabilityChanges"]) == ("1.0.1", None)
    empty = await registry.client.post(f"{SKILLS}/check-updates", json={"skills": []})
    assert empty.status_code == 400


async def test_publishers_are_counted__from_what_is_published(registry: Registry) -> None:
    await registry.journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    await registry.journey.publish("zeta/wave", {"SKILL.md": skill_md("wave")})
    listed = await registry.read("/api/v1/publishers")
    assert [(one["name"], one["skills"]) for one in listed["publishers"]] == [(OWNER, 1), ("127-0-0-1-zeta", 1)]
    assert [one["name"] for one in (await registry.read("/api/v1/publishers", q="ZET"))["publishers"]] == [
        "127-0-0-1-zeta"
    ]
    one = await registry.read(f"/api/v1/publishers/{OWNER}")
    assert ([row["slug"] for row in one["skills"]], one["total"]) == ([SLUG], 1)


async def test_store_that_is_down_is_told__and_never_an_empty_list(registry: Registry, engine: Engine) -> None:
    await registry.journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    await engine.close()
    reads = [
        SKILLS,
        f"{SKILLS}?updatedSince=2020-01-01T00:00:00Z",
        f"{SKILLS}/search?q=greeting",
        *(f"{PLACE}{way}" for way in ("", "/versions", "/versions/1.0.0", "/security", "/installs", "/star", "/badge")),
        f"{PLACE}/versions/1.0.0/archive.zip",
        "/api/v1/publishers",
        f"/api/v1/publishers/{OWNER}",
        "/api/v1/export/skills.ndjson",
        "/feeds/new.atom",
        "/feeds/blocked.atom",
        "/sitemap.xml",
        "/sitemap-skills.xml",
    ]
    for path in reads:
        answer = await registry.get(path)
        assert (answer.status_code, answer.json()["code"]) == (503, "engine_closed"), (path, answer.text[:200])
        assert int(answer.headers["Retry-After"]) > 0, path
    for path in (f"{PLACE}/installs", f"{PLACE}/reports"):
        written = await registry.client.post(path, json={"reason": "other", "text": "x"})
        assert written.status_code == 503, path
