"""Reports about skills: made by anybody who is known, answered by who moderates."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec
from litestar import Response, get, post
from litestar.params import FromPath, JSONBody

from vskill_platform.domain.access import Permission
from vskill_platform.domain.report import Report, ReportKind, ReportReason, ReportStatus
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.times import ms_from_iso
from vskill_platform.pipeline.yanking import quarantine_skill
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.reports import answer_report, list_reports, open_report, reports_of
from vskill_platform.web.access import ACCESS, caller_of, needs
from vskill_platform.web.acting import MAX_REASON_CHARS, act
from vskill_platform.web.api.owning import NOT_KEPT
from vskill_platform.web.clients.clawhub.naming import ClawHubRequest, find_named, short_name
from vskill_platform.web.clients.clawhub.reading import Document, Limit, Owner, Text
from vskill_platform.web.clients.clawhub.standing import require_offered
from vskill_platform.web.clients.clawhub.uploads import OWNED
from vskill_platform.web.surface.rate_limits import REPORTS, limited

Long = Annotated[str, msgspec.Meta(max_length=4000)]
_STATUSES = {ReportStatus.OPEN: "open", ReportStatus.UPHELD: "confirmed", ReportStatus.DISMISSED: "dismissed"}
_SEEN = {ACCESS: needs(Permission.SEE_PANEL)}
_MODERATED = {ACCESS: needs(Permission.MODERATE)}


class TriageStatus(StrEnum):
    """How a report is to stand."""

    OPEN = "open"
    CONFIRMED = "confirmed"
    DISMISSED = "dismissed"


class FinalAction(StrEnum):
    """What is to become of the skill."""

    NONE = "none"
    HIDE = "hide"


class NewReport(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a skill."""

    reason: Long
    version: Annotated[str, msgspec.Meta(max_length=100)] | None = None


class Triage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer to a report."""

    status: TriageStatus
    note: Long | None = None
    final_action: FinalAction = FinalAction.NONE


@post("/api/v1/skills/{slug:str}/report", status_code=200, guards=[limited(REPORTS)], opt=OWNED)
async def report_skill(
    request: ClawHubRequest, slug: FromPath[str], data: JSONBody[NewReport], owner: Owner = ""
) -> Document:
    """Tell the operator what is wrong. Somebody's second report of a skill is their first one."""
    skill = await require_offered(await find_named(request, slug, owner))
    account = caller_of(request).id
    before = _about(require_readable(await reports_of(account)), skill.slug)
    text = f"{data.reason} (version {data.version})" if data.version else data.reason
    opened = before[:1] or [
        (
            await open_report(skill.slug, kind=ReportKind.SKILL, reason=ReportReason.OTHER, text=text, account=account)
        ).report
    ]
    return Response(
        {
            "ok": True,
            "reported": not before,
            "alreadyReported": bool(before),
            "reportId": opened[0].id,
            "skillId": skill.submission_id,
            "reportCount": 1,
        }
    )


@get("/api/v1/skills/-/reports", opt=_SEEN)
async def list_skill_reports(status: Text = "open", limit: Limit = 25, cursor: Text = "") -> Document:
    """Reports about skills that stand so, the oldest first."""
    found = [one for one in require_readable(await list_reports()) if one.kind is ReportKind.SKILL]
    wanted = [one for one in found if status in ("all", _STATUSES[one.status])]
    wanted.sort(key=lambda one: (one.created_at, one.id))
    start = int(cursor) if cursor.isascii() and cursor.isdigit() else 0
    end = start + min(max(1, limit), 200)
    is_done = end >= len(wanted)
    items = [_view(one) for one in wanted[start:end]]
    return Response({"items": items, "nextCursor": None if is_done else str(end), "done": is_done}, headers=NOT_KEPT)


@post("/api/v1/skills/-/reports/{identity:str}/triage", status_code=200, opt=_MODERATED)
async def triage_report(request: ClawHubRequest, identity: FromPath[str], data: JSONBody[Triage]) -> Document:
    """Answer a report, and put its skill aside if that is to be."""
    status = next(ours for ours, theirs in _STATUSES.items() if theirs == data.status.value)
    note = (data.note or "").strip() or "Opened again."
    report = await act(
        request,
        "reports.answer",
        subject=identity,
        reason=note[:MAX_REASON_CHARS],
        run=lambda: answer_report(identity, status=status, answer=note),
    )
    if data.final_action is FinalAction.HIDE:
        await _hide(request, report.subject, note)
    return Response(
        {
            "ok": True,
            "reportId": report.id,
            "skillId": report.subject,
            "status": _STATUSES[report.status],
            "reportCount": 1,
            "actionTaken": data.final_action.value,
        }
    )


async def _hide(request: ClawHubRequest, slug: str, note: str) -> None:
    by = caller_of(request).id
    reason = note[:MAX_REASON_CHARS]

    async def quarantine() -> Skill:
        return await quarantine_skill(slug, reason=reason, by=by)

    await act(request, "skills.quarantine", subject=slug, reason=reason, run=quarantine)


def _about(reports: list[Report], slug: str) -> list[Report]:
    return [one for one in reports if one.subject == slug and one.status is ReportStatus.OPEN]


def _view(report: Report) -> dict[str, object]:
    return {
        "reportId": report.id,
        "skillId": report.subject,
        "slug": short_name(report.subject),
        "displayName": report.subject,
        "version": None,
        "reason": report.text,
        "status": _STATUSES[report.status],
        "createdAt": ms_from_iso(report.created_at),
        "reporter": {"userId": report.account or "anonymous", "handle": None, "displayName": None},
        "triagedAt": None if report.status is ReportStatus.OPEN else ms_from_iso(report.updated_at),
        "triagedBy": None,
        "triageNote": report.answer or None,
        "actionTaken": None,
    }


REPORTING_ROUTES = [report_skill, list_skill_reports, triage_report]
