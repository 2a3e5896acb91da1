"""Reports and appeals as those meet them who answer."""

from __future__ import annotations

from typing import Annotated

from litestar import get, post
from litestar.params import JSONBody, QueryParameter

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import NotFound
from vskill_platform.domain.report import ReportKind, ReportReason, ReportStatus
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.reports import answer_report, list_reports
from vskill_platform.web.access import needs
from vskill_platform.web.acting import MAX_REASON_CHARS, act
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.report_views import ReportAnswer, ReportView
from vskill_platform.web.api.reports import view_report
from vskill_platform.web.pages.rendering import PageRequest

TAGS = ["admin"]
StatusFilter = Annotated[ReportStatus, QueryParameter(description="How the reports stand.")]
_ID = "rep_1a2b3c4d5e6f4a60b7a1c5d2e8f90134"
_REPORT = ReportView(
    id=_ID,
    kind=ReportKind.SKILL,
    subject="acme/skills/pdf-forms",
    reason=ReportReason.MALWARE,
    text="It sends the clipboard away.",
    status=ReportStatus.OPEN,
    answer="",
    created_at="2026-02-21T10:00:00.000Z",
    updated_at="2026-02-21T10:00:00.000Z",
)
_ANSWER = ReportAnswer(id=_ID, status=ReportStatus.UPHELD, answer="It did. The skill is blocked.")


@get(
    "/api/v1/admin/reports",
    summary="List reports and appeals",
    tags=TAGS,
    opt=described([_REPORT], access=needs(Permission.SEE_PANEL)),
)
async def list_open_reports(status: StatusFilter = ReportStatus.OPEN) -> list[ReportView]:
    """Reports and appeals that stand so, the oldest first."""
    reports = [report for report in require_readable(await list_reports()) if report.status is status]
    return [view_report(report) for report in sorted(reports, key=lambda report: (report.created_at, report.id))]


@post(
    "/api/v1/admin/reports/answer",
    summary="Answer a report or an appeal",
    tags=TAGS,
    status_code=200,
    opt=described(_REPORT, body=_ANSWER, errors=(NotFound,), access=needs(Permission.MODERATE)),
)
async def answer_one_report(request: PageRequest, data: JSONBody[ReportAnswer]) -> ReportView:
    """Settle a report. What follows from it (a block, an approval) is done for itself."""
    answered = await act(
        request,
        "reports.answer",
        subject=data.id,
        reason=data.answer[:MAX_REASON_CHARS],
        run=lambda: answer_report(data.id, status=data.status, answer=data.answer),
    )
    return view_report(answered)


REPORT_ROUTES = [list_open_reports, answer_one_report]
