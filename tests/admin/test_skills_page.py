"""Skills on the panel: yanked, put into quarantine, restored; and what everybody else is told then."""

from __future__ import annotations

import httpx

from tests.admin.judging import app_of, assert_refused, finding, plant, signed_in
from tests.admin.test_acting import client_of, read_entries
from vskill_platform.domain.access import Role
from vskill_platform.ports.env import WorkerEnv

ACTS = "/api/v1/admin/skills"
SLUG = "acme/greeting/greeting"
PUBLIC = f"/api/v1/skills/{SLUG}"
HTML = {"Accept": "text/html"}


async def publish(env: WorkerEnv, client: httpx.AsyncClient) -> None:
    """One published version."""
    waiting = await plant(env, "greeting", finding())
    answer = await client.post("/api/v1/admin/review/approve", json={"id": waiting.id, "reason": "Fine."})
    assert answer.json()["outcome"] == "published", answer.text


async def test_quarantine_answers_410_with_the_reason_everywhere__until_it_is_restored(env: WorkerEnv) -> None:
    async with signed_in(env, Role.REVIEWER, name="ada") as ada, client_of(app_of(env)) as anyone:
        await publish(env, ada)
        assert (await anyone.get(f"{PUBLIC}/versions/1.0.0/archive.zip")).status_code == 200
        body = {"slug": SLUG, "reason": "Reported by its author."}
        assert (await ada.post(f"{ACTS}/quarantine", json=body)).json()["latest"] is None
        for way in ("", "/versions", "/versions/1.0.0/archive.zip", "/versions/1.0.0/files/SKILL.md"):
            gone = await anyone.get(f"{PUBLIC}{way}")
            assert (gone.status_code, gone.json()["code"]) == (410, "skill_quarantined"), way
            assert "Reported by its author." in gone.json()["detail"]
        page = await anyone.get(f"/skills/{SLUG}", headers=HTML)
        assert (page.status_code, "Reported by its author." in page.text) == (410, True)
        assert (await anyone.get("/api/v1/skills")).json()["total"] == 0
        assert "In quarantine" in (await ada.get(f"/admin/skills/{SLUG}")).text
        assert SLUG in (await ada.get("/admin/skills-out")).text
        again = await ada.post(f"{ACTS}/quarantine", json=body)
        assert (again.status_code, again.json()["code"]) == (409, "illegal_transition")
        restored = await ada.post(f"{ACTS}/restore", json={"slug": SLUG, "reason": "It was fine."})
        assert restored.json()["detail"] == "It is published again as 1.0.0."
        assert (await anyone.get(f"{PUBLIC}/versions/1.0.0/archive.zip")).status_code == 200
        assert "Handed out" in (await ada.get(f"/admin/skills/{SLUG}")).text
    acts = [entry.act for entry in await read_entries(env)]
    assert acts == ["review.approve", "skills.quarantine", "skills.restore"]


async def test_yank_of_the_only_version_withdraws_the_skill__and_clients_are_told_why(env: WorkerEnv) -> None:
    installed = {"skills": [{"slug": SLUG, "version": "1.0.0"}]}
    async with signed_in(env, Role.SUPER_ADMIN, name="bea") as bea, client_of(app_of(env)) as anyone:
        await publish(env, bea)
        body = {"slug": SLUG, "version": "1.0.0", "reason": "It leaks names."}
        yanked = await bea.post(f"{ACTS}/yank", json=body)
        assert yanked.json()["detail"] == "1.0.0 is yanked. The skill is withdrawn."
        gone = await anyone.get(f"{PUBLIC}/versions/1.0.0/archive.zip")
        assert (gone.status_code, gone.json()["code"]) == (410, "skill_withdrawn")
        (view,) = (await anyone.post("/api/v1/skills/check-updates", json=installed)).json()["skills"]
        assert (view["status"], "It leaks names." in view["reason"]) == ("withdrawn", True)
        assert "It leaks names." in (await bea.get(f"/admin/skills/{SLUG}")).text
        back = await bea.post(f"{ACTS}/restore-version", json=body)
        assert back.json()["latest"] == "1.0.0"
    entry = (await read_entries(env))[1]
    assert (entry.act, entry.subject, entry.reason) == ("skills.yank", f"{SLUG}@1.0.0", "It leaks names.")


async def test_act_on_a_skill_is_refused__for_who_does_not_moderate(env: WorkerEnv) -> None:
    skill = {"slug": SLUG, "reason": "Because."}
    version = {**skill, "version": "1.0.0"}
    ways = {"yank": version, "restore-version": version, "quarantine": skill, "restore": skill}
    calls: dict[str, dict[str, str] | None] = {f"{ACTS}/{way}": body for way, body in ways.items()}
    await assert_refused(env, Role.AUDITOR, Role.SUBMITTER, calls=calls)
