"""What clients are told of a version that was yanked while others are left."""

from __future__ import annotations

import pytest

from tests.api.skills.registry import PLACE, SKILLS, SLUG, Registry
from tests.pipeline.journey import skill_md
from vskill_platform.pipeline.yanking import yank_version

pytestmark = pytest.mark.asyncio(loop_scope="package")
WHY = "It leaks names."


async def test_yanked_version_answers_410_for_its_bytes__and_everything_else_says_why(registry: Registry) -> None:
    await registry.journey.publish("acme/greeting", {"SKILL.md": skill_md(), "README.md": b"1"})
    await registry.update("acme/greeting", {"SKILL.md": skill_md(), "README.md": b"2"})
    archive = f"{PLACE}/versions/1.0.1/archive.zip"
    had = (await registry.get(archive)).headers["ETag"]
    await registry.journey.inside(lambda: yank_version(SLUG, "1.0.1", reason=WHY, by="user_1"))
    for way in ("archive.zip", "archive.tar", "files/SKILL.md"):
        gone = await registry.get(f"{PLACE}/versions/1.0.1/{way}")
        assert (gone.status_code, gone.json()["code"]) == (410, "version_yanked"), way
        assert WHY in gone.json()["detail"]
    kept = await registry.client.get(archive, headers={"If-None-Match": had})
    assert kept.status_code == 410, "who has kept the bytes is told too"
    rows = (await registry.read(f"{PLACE}/versions"))["versions"]
    assert [(row["version"], row["yankReason"]) for row in rows] == [("1.0.1", WHY), ("1.0.0", "")]
    assert (await registry.read(f"{PLACE}/versions/1.0.1"))["yankReason"] == WHY
    assert (await registry.read(PLACE))["version"] == "1.0.0"
    assert (await registry.get(f"{PLACE}/versions/1.0.0/archive.zip")).status_code == 200
    body = {"skills": [{"slug": SLUG, "version": "1.0.1"}, {"slug": SLUG, "version": "1.0.0"}]}
    bad, good = (await registry.client.post(f"{SKILLS}/check-updates", json=body)).json()["skills"]
    assert (bad["status"], bad["reason"], bad["version"]) == ("yanked", WHY, "1.0.0")
    assert good["status"] == "current"
    page = await registry.client.get(f"/skills/{SLUG}/versions/1.0.1", headers={"Accept": "text/html"})
    assert (page.status_code, WHY in page.text, "install-title" in page.text) == (200, True, False)
    assert "Yanked" in (await registry.client.get(f"/skills/{SLUG}/versions", headers={"Accept": "text/html"})).text
