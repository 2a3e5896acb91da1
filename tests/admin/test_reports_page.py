"""Reports and appeals on the panel: read, answered, and on to what they are about."""

from __future__ import annotations

from tests.admin.judging import assert_refused, signed_in
from tests.admin.test_acting import read_entries
from vskill_platform.domain.access import Role
from vskill_platform.domain.report import ReportKind, ReportReason
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.reports import OpenedReport, open_report
from vskill_platform.testing.accounts import in_request

ANSWER = "/api/v1/admin/reports/answer"


async def opened(env: WorkerEnv) -> OpenedReport:
    return await in_request(
        env,
        lambda: open_report(
            "acme/skills/demo", kind=ReportKind.SKILL, reason=ReportReason.MALWARE, text="<b>It bites</b>"
        ),
    )


async def test_report_is_shown_escaped_and_answered__and_moves_to_its_pile(env: WorkerEnv) -> None:
    report, secret = await opened(env)
    async with signed_in(env, Role.REVIEWER, name="ada") as ada:
        page = await ada.get("/admin/reports")
        body = {"id": report.id, "status": "upheld", "answer": "It did. It is blocked."}
        answered = await ada.post(ANSWER, json=body)
        open_ones, upheld = await ada.get("/admin/reports"), await ada.get("/admin/reports?status=upheld")
    assert "&lt;b&gt;It bites&lt;/b&gt;" in page.text
    assert 'href="/admin/skills/acme/skills/demo"' in page.text
    assert secret not in page.text
    assert answered.status_code == 200
    assert report.id not in open_ones.text
    assert "It did. It is blocked." in upheld.text
    (entry,) = await read_entries(env)
    assert (entry.act, entry.subject, entry.actor) == ("reports.answer", report.id, "ada")


async def test_answer_is_refused__for_who_does_not_moderate(env: WorkerEnv) -> None:
    report, _ = await opened(env)
    body = {"id": report.id, "status": "upheld", "answer": "Yes."}
    await assert_refused(env, Role.AUDITOR, Role.SUBMITTER, calls={ANSWER: body})
