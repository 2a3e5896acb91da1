"""The blocklist on the panel: found by words, added after a look at what it stops, taken back."""

from __future__ import annotations

from tests.admin.judging import assert_refused, finding, plant, signed_in
from tests.admin.test_acting import read_entries
from vskill_platform.domain.access import Role
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.submissions import get_submission
from vskill_platform.testing.accounts import in_request

BLOCKLIST = "/api/v1/admin/blocklist"


async def test_preview_says_what_a_block_stops__and_stops_nothing(env: WorkerEnv) -> None:
    meant = await plant(env, "greeting", finding())
    await plant(env, "other", finding())
    async with signed_in(env, Role.REVIEWER) as ada:
        preview = (await ada.get(f"{BLOCKLIST}/preview?skillName=greeting")).json()
        page = await ada.get("/admin/blocklist?skillName=greeting")
        nonsense = await ada.get("/admin/blocklist?digest=sha256:0&skillName=greeting")
    assert (preview["total"], [one["id"] for one in preview["submissions"]]) == (1, [meant.id])
    assert "<strong>1 submission</strong> would be stopped" in page.text
    assert "There can be no such entry" in nonsense.text
    found = await in_request(env, lambda: get_submission(meant.id))
    assert found.submission.state is SubmissionState.NEEDS_REVIEW
    assert await read_entries(env) == []


async def test_block_is_added_found_and_taken_back__each_told(env: WorkerEnv) -> None:
    await plant(env, "greeting", finding())
    async with signed_in(env, Role.REVIEWER, name="ada") as ada:
        added = (await ada.post(BLOCKLIST, json={"skillName": "greeting", "reason": "It steals keys."})).json()
        found, missed = await ada.get("/admin/blocklist?q=STEALS"), await ada.get("/admin/blocklist?q=else")
        removed = await ada.post(f"{BLOCKLIST}/remove", json={"key": added["key"], "reason": "A mistake."})
    assert added["detail"] == "It stops 1 submission."
    assert "It steals keys." in found.text
    assert "No entry matches" in missed.text
    assert removed.json()["detail"] == "1 submission may try again."
    acts = [entry.act for entry in await read_entries(env)]
    assert acts == ["blocklist.add", "blocklist.add", "blocklist.remove", "blocklist.remove"]


async def test_block_is_refused__for_who_may_not_block(env: WorkerEnv) -> None:
    calls: dict[str, dict[str, str] | None] = {
        BLOCKLIST: {"skillName": "greeting", "reason": "Because."},
        f"{BLOCKLIST}/remove": {"key": "block:digest:x", "reason": "Because."},
        f"{BLOCKLIST}/preview?skillName=greeting": None,
    }
    await assert_refused(env, Role.AUDITOR, Role.SUBMITTER, calls=calls)
