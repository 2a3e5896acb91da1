"""Reports and appeals as the operator meets them. Served on the control socket alone."""

from __future__ import annotations

from litestar import get, post
from litestar.params import FromQuery, JSONBody

from vskill_platform.domain.report import ReportStatus
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.reports import answer_report, list_reports
from vskill_platform.web.api.report_views import ReportAnswer, ReportView
from vskill_platform.web.api.reports import view_report


@get("/control/reports")
async def list_open_reports(status: FromQuery[ReportStatus] = ReportStatus.OPEN) -> list[ReportView]:
    """Reports and appeals that stand so, the oldest first."""
    reports = [report for report in require_readable(await list_reports()) if report.status is status]
    return [view_report(report) for report in sorted(reports, key=lambda report: (report.created_at, report.id))]


@post("/control/reports/answer", status_code=200)
async def answer_one_report(data: JSONBody[ReportAnswer]) -> ReportView:
    """Settle a report. What follows from it (a block, an approval) is done for itself."""
    return view_report(await answer_report(data.id, status=data.status, answer=data.answer))
