"""The review desk: what waits, the findings beside the file, and decisions that land in the audit log."""

from __future__ import annotations

from tests.admin.judging import SKILL, assert_refused, finding, plant, signed_in
from tests.admin.test_acting import read_entries
from vskill_platform.domain.access import Role
from vskill_platform.domain.scan import Severity
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.web.admin.source_text import LINES_SHOWN, MAX_LINE_CHARS, lines_of

REVIEW = "/api/v1/admin/review"
CRITICAL = finding(Severity.CRITICAL)


async def test_desk_lists_what_waits_longest_first__with_the_gravest_finding(env: WorkerEnv) -> None:
    now_ms = env.clock.now_ms()
    young = await plant(env, "young", finding(Severity.LOW), finding(), updated_ms=now_ms - 60_000)
    old = await plant(env, "old", updated_ms=now_ms - 3_600_000)
    await plant(env, "published", state=SubmissionState.PUBLISHED)
    async with signed_in(env, Role.REVIEWER) as ada:
        listed = (await ada.get(REVIEW)).json()
        page = await ada.get("/admin/review")
    assert [row["id"] for row in listed["submissions"]] == [old.id, young.id]
    assert listed["submissions"][1]["worst"]["severity"] == "high"
    assert (listed["submissions"][0]["worst"], listed["submissions"][0]["findings"]) == (None, 0)
    assert page.status_code == 200
    assert page.text.index(old.id) < page.text.index(young.id)
    assert "published" not in [row["skillName"] for row in listed["submissions"]]


async def test_approval_publishes_and_is_told__with_the_reviewers_name(env: WorkerEnv) -> None:
    waiting = await plant(env, "greeting", finding())
    async with signed_in(env, Role.REVIEWER, name="ada") as ada:
        answer = await ada.post(f"{REVIEW}/approve", json={"id": waiting.id, "reason": "It quotes a warning."})
        again = await ada.post(f"{REVIEW}/approve", json={"id": waiting.id, "reason": "Once more."})
    assert (answer.status_code, answer.json()["outcome"]) == (200, "published"), answer.text
    assert (again.status_code, again.json()["code"]) == (409, "illegal_transition")
    (entry,) = await read_entries(env)
    assert (entry.act, entry.subject, entry.actor, entry.role) == ("review.approve", waiting.id, "ada", "REVIEWER")
    assert entry.reason == "It quotes a warning."
    assert f"sub:{waiting.id}" in entry.touched


async def test_critical_finding_takes_two_reviewers__and_the_desk_says_who_was_first(env: WorkerEnv) -> None:
    failed = await plant(env, "greeting", CRITICAL, state=SubmissionState.TIER1_FAILED)
    async with signed_in(env, Role.REVIEWER, name="ada") as ada, signed_in(env, Role.SUPER_ADMIN, name="bea") as bea:
        first = await ada.post(f"{REVIEW}/approve", json={"id": failed.id, "reason": "A test of ours."})
        mine = await ada.post(f"{REVIEW}/approve", json={"id": failed.id, "reason": "I insist."})
        (row,) = (await bea.get(REVIEW)).json()["submissions"]
        own_page, other_page = await ada.get(f"/admin/review/{failed.id}"), await bea.get(f"/admin/review/{failed.id}")
        second = await bea.post(f"{REVIEW}/approve", json={"id": failed.id, "reason": "So it is."})
    assert (first.status_code, first.json()["outcome"]) == (200, "first_approval")
    assert (mine.status_code, mine.json()["code"]) == (409, "second_reviewer_needed")
    assert (row["firstApproval"]["by"], row["needsTwo"], row["state"]) == ("ada", True, "NEEDS_REVIEW")
    assert "That was you" in own_page.text
    assert "POST /api/v1/admin/review/approve" not in own_page.text
    assert "POST /api/v1/admin/review/approve" in other_page.text
    assert second.json()["outcome"] == "published"
    assert [(entry.actor, entry.act) for entry in await read_entries(env)] == [
        ("ada", "review.approve"),
        ("bea", "review.approve"),
    ]


async def test_rejection_takes_one_reviewer_and_a_reason(env: WorkerEnv) -> None:
    waiting = await plant(env, "greeting", finding())
    async with signed_in(env, Role.REVIEWER) as ada:
        silent = await ada.post(f"{REVIEW}/reject", json={"id": waiting.id, "reason": " "})
        said = await ada.post(f"{REVIEW}/reject", json={"id": waiting.id, "reason": "It reads keys."})
    assert (silent.status_code, said.status_code, said.json()["outcome"]) == (400, 200, "rejected")
    assert [entry.act for entry in await read_entries(env)] == ["review.reject"]


async def test_decision_is_refused__for_who_does_not_review(env: WorkerEnv) -> None:
    waiting = await plant(env, "greeting", finding())
    body = {"id": waiting.id, "reason": "Because."}
    await assert_refused(env, Role.AUDITOR, Role.SUBMITTER, calls={f"{REVIEW}/approve": body, f"{REVIEW}/reject": body})


async def test_page_shows_findings_beside_the_file__and_marks_their_lines(env: WorkerEnv) -> None:
    hostile = b"<script>alert(1)</script>\nrm \xe2\x80\xae-rf /\n"
    waiting = await plant(env, "greeting", finding(), finding(file="run.sh", line=2), files={"run.sh": hostile})
    async with signed_in(env, Role.AUDITOR) as olga:
        page = await olga.get(f"/admin/review/{waiting.id}")
        other = await olga.get(f"/admin/review/{waiting.id}?file=run.sh&finding=2")
        nothing = await olga.get("/admin/review/sub_none")
    assert 'id="L8" class="marked high" data-findings="1"' in page.text
    assert "data-decide" not in page.text
    assert "<script>alert" not in other.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in other.text
    assert '<span class="hidden-sign">U+202E</span>-rf /' in other.text
    assert "\u202e" not in other.text
    assert 'id="L2" class="marked high" data-findings="2"' in other.text
    assert nothing.status_code == 404


async def test_page_says_what_has_changed__since_what_is_published(env: WorkerEnv) -> None:
    first = await plant(env, "greeting", finding())
    async with signed_in(env, Role.REVIEWER) as ada:
        await ada.post(f"{REVIEW}/approve", json={"id": first.id, "reason": "Fine."})
        page = await ada.get(f"/admin/review/{first.id}")
        item = (await ada.get(f"{REVIEW}/{first.id}")).json()
    assert "0 files differ from 1.0.0" in page.text
    assert (item["against"], item["fileChanges"], item["files"][0]["findings"]) == ("1.0.0", [], 1)


def test_lines_are_cut_and_counted__in_a_file_that_is_long() -> None:
    long = b"x" * (MAX_LINE_CHARS + 7) + b"\n" + b"line\n" * 3 * LINES_SHOWN
    shown = lines_of(long, findings=[(1, finding(line=2 * LINES_SHOWN + 5))], around=2 * LINES_SHOWN + 5)
    assert (shown.first, shown.last, shown.total) == (2 * LINES_SHOWN + 1, 3 * LINES_SHOWN, 3 * LINES_SHOWN + 1)
    assert [line.number for line in shown.lines if line.findings] == [2 * LINES_SHOWN + 5]
    assert lines_of(long, findings=[]).lines[0].left_out == 7
    assert lines_of(b"a\0b", findings=[]).note.startswith("It is not text")
    assert lines_of(b"caf\xe9\n", findings=[]).lines[0].pieces[0].text == "caf\\xe9"
    assert [line.number for line in lines_of(SKILL, findings=[]).lines] == list(range(1, 9))
