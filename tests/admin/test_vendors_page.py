"""Vendors on the panel: trusted by a super admin, for a reason, and no more."""

from __future__ import annotations

from tests.admin.judging import assert_refused, signed_in
from tests.admin.test_acting import read_entries
from vskill_platform.domain.access import Role
from vskill_platform.ports.env import WorkerEnv

VENDORS = "/api/v1/admin/vendors"
BODY = {"source": "https://github.com/Anthropics", "reason": "They made the format."}


async def test_vendor_is_added_listed_and_removed__and_told_each_time(env: WorkerEnv) -> None:
    async with signed_in(env, Role.SUPER_ADMIN, name="bea") as bea:
        added = await bea.post(VENDORS, json=BODY)
        twice = await bea.post(VENDORS, json=BODY)
        host = await bea.post(VENDORS, json={**BODY, "source": "github.com"})
        page = await bea.get("/admin/vendors")
        removed = await bea.post(f"{VENDORS}/remove", json=BODY)
        left = (await bea.get(VENDORS)).json()["vendors"]
    assert (added.json()["vendor"]["source"], added.json()["vendor"]["by"]) == ("github.com/anthropics", "bea")
    assert (twice.status_code, host.status_code) == (409, 400)
    assert "github.com/anthropics" in page.text
    assert "stays as it is" in removed.json()["detail"]
    assert left == []
    assert [entry.act for entry in await read_entries(env)] == ["vendors.add", "vendors.remove"]


async def test_vendor_is_refused__for_all_but_super_admins(env: WorkerEnv) -> None:
    calls: dict[str, dict[str, str] | None] = {VENDORS: BODY, f"{VENDORS}/remove": BODY}
    await assert_refused(env, Role.REVIEWER, Role.AUDITOR, Role.SUBMITTER, calls=calls)
