"""Telling the operator that a skill is harmful, or that a decision is wrong, and looking at what became of it."""

from __future__ import annotations

from typing import Annotated

import structlog
from litestar import Response, get, post
from litestar.params import FromPath, HeaderParameter, JSONBody

from vskill_platform.domain.errors import IllegalTransition
from vskill_platform.domain.report import Report, ReportKind, ReportReason
from vskill_platform.domain.submission import CATEGORY_OF, Category
from vskill_platform.stores.reports import OpenedReport, get_report, open_report
from vskill_platform.stores.submissions import get_submission
from vskill_platform.web.api.report_views import AppealRequest, ReportReceipt, ReportRequest, ReportView
from vskill_platform.web.api.skill_lookup import SKILL, published_skill
from vskill_platform.web.surface.rate_limits import REPORTS, limited

_MAX_BODY_BYTES = 32 * 1024
_NOT_KEPT = {"Cache-Control": "no-store"}
APPEALED = frozenset({Category.BLOCKED, Category.REJECTED, Category.REVIEW})
_log = structlog.get_logger(__name__)
Bearer = Annotated[str, HeaderParameter(name="Authorization", description="`Bearer` and the report's secret.")]


@post(
    f"{SKILL}/reports",
    summary="Report a skill",
    tags=["reports"],
    guards=[limited(REPORTS)],
    request_max_body_size=_MAX_BODY_BYTES,
)
async def report_skill(
    owner: FromPath[str], repo: FromPath[str], skill: FromPath[str], data: JSONBody[ReportRequest]
) -> Response[ReportReceipt]:
    """Tell the operator what is wrong. The answer has a secret, told once, that shows you how the report stands."""
    found = await published_skill(owner, repo, skill)
    reason = ReportReason(data.reason.value)
    return _receipt(_tell(await open_report(found.slug, kind=ReportKind.SKILL, reason=reason, text=data.text)))


@post(
    "/api/v1/submissions/{identity:str}/appeals",
    summary="Appeal a decision about a submission",
    tags=["reports"],
    guards=[limited(REPORTS)],
    request_max_body_size=_MAX_BODY_BYTES,
)
async def appeal_decision(identity: FromPath[str], data: JSONBody[AppealRequest]) -> Response[ReportReceipt]:
    """Say why the decision is wrong. Only what was turned down, blocked or held for review can be appealed."""
    return _receipt(await appeal(identity, text=data.text))


async def appeal(identity: str, *, text: str, account: str | None = None) -> ReportReceipt:
    """Open an appeal about a submission. Raises NotFound, or IllegalTransition where nothing was decided against it."""
    submission = (await get_submission(identity)).submission
    if CATEGORY_OF[submission.state] not in APPEALED:
        raise IllegalTransition(
            f"Submission '{identity}' is {submission.state.value}: nothing was decided against it.", id=identity
        )
    reason = ReportReason.WRONG_DECISION
    return _tell(await open_report(submission.id, kind=ReportKind.APPEAL, reason=reason, text=text, account=account))


@get("/api/v1/reports/{identity:str}", summary="How a report or appeal stands", tags=["reports"])
async def show_report(identity: FromPath[str], authorization: Bearer = "") -> Response[ReportView]:
    """For whoever made it: send the secret as a Bearer token. To everybody else there is no such report."""
    report = await get_report(identity, secret=authorization.removeprefix("Bearer ").strip())
    return Response(view_report(report), headers=_NOT_KEPT)


def view_report(report: Report) -> ReportView:
    """A report without what only the store needs."""
    return ReportView(**{name: getattr(report, name) for name in ReportView.__struct_fields__})


def _tell(opened: OpenedReport) -> ReportReceipt:
    report, secret = opened
    _log.warning("report_opened", report=report.id, kind=report.kind.value, subject=report.subject)
    return ReportReceipt(id=report.id, secret=secret, status=report.status, url=f"/api/v1/reports/{report.id}")


def _receipt(receipt: ReportReceipt) -> Response[ReportReceipt]:
    return Response(receipt, headers={"Location": receipt.url, **_NOT_KEPT})
