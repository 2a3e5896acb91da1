"""Reports about skills and appeals against decisions: reading them, answering them, and the way to what follows."""

from __future__ import annotations

from typing import Annotated

from litestar import Response, get
from litestar.params import QueryParameter

from vskill_platform.domain.access import Permission
from vskill_platform.domain.report import ReportStatus
from vskill_platform.stores.reads import require_complete
from vskill_platform.stores.reports import list_reports
from vskill_platform.web.access import ACCESS, needs
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.pages.paging import PageNumber, make_paging, offset_of
from vskill_platform.web.pages.rendering import PageRequest

ROWS = 25
Status = Annotated[ReportStatus, QueryParameter(name="status")]


@get("/admin/reports", opt={ACCESS: needs(Permission.SEE_PANEL)})
async def show_reports(
    request: PageRequest, status: Status = ReportStatus.OPEN, number: PageNumber = 1
) -> Response[str]:
    """Those that are open, the oldest first; those that are settled, the newest first."""
    every = require_complete(await list_reports())
    counts = {one.value: sum(report.status is one for report in every) for one in ReportStatus}
    found = [report for report in every if report.status is status]
    found.sort(key=lambda report: (report.updated_at, report.id), reverse=status is not ReportStatus.OPEN)
    offset = offset_of(number, size=ROWS)
    parameters = {"status": status.value if status is not ReportStatus.OPEN else None}
    return await admin_page(
        request,
        "admin/reports.html",
        section="reports",
        status=status.value,
        counts=counts,
        reports=found[offset : offset + ROWS],
        paging=make_paging("/admin/reports", number=number, size=ROWS, total=len(found), parameters=parameters),
    )
