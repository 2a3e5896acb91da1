"""`scan`: what was found in a published version, or a new look at it by today's rules, and the report to keep.

A scan is known by the submission and the run that it is. Looking again (`--update`) is a rescan: what it comes to counts, so only
who may manage the skill, or moderates, starts one. Without it the report that is kept is told.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, NamedTuple

import msgspec
from litestar import Response, get, post
from litestar.params import FromPath, JSONBody

from vskill_platform.accounts.ownership import may_manage, publishes
from vskill_platform.domain.access import Permission
from vskill_platform.domain.archives import build_zip
from vskill_platform.domain.content import SkillFile, make_content
from vskill_platform.domain.errors import InvalidInput, NotAllowed, NotFound, NotSupported
from vskill_platform.domain.records import Submission
from vskill_platform.domain.scan import ScanReport, Verdict
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.submission import CATEGORY_OF, Actor, Category, SubmissionState
from vskill_platform.domain.times import ms_from_iso
from vskill_platform.pipeline.rescan import rescan_skill
from vskill_platform.stores.scans import ScanRecord, get_scan_of_run
from vskill_platform.stores.skills import find_skill
from vskill_platform.stores.submissions import find_submission
from vskill_platform.stores.submitters import has_submitted
from vskill_platform.web.access import caller_of
from vskill_platform.web.api.owning import NOT_KEPT
from vskill_platform.web.api.skill_lookup import published_version
from vskill_platform.web.clients.clawhub.naming import ClawHubRequest, find_named
from vskill_platform.web.clients.clawhub.reading import Document, Owner, Text
from vskill_platform.web.clients.clawhub.standing import require_offered
from vskill_platform.web.clients.clawhub.uploads import OWNED
from vskill_platform.web.surface.rate_limits import SUBMISSIONS, limited

Short = Annotated[str, msgspec.Meta(max_length=400)]
_MOST_TOLD = 100
_STATUSES = {Verdict.PASS: "clean", Verdict.CONCERNS: "suspicious", Verdict.FAIL: "malicious"}


class ScanSource(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What is to be scanned."""

    kind: Short
    slug: Short = ""
    owner_handle: Short | None = None
    version: Short | None = None


class ScanRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A wish to scan."""

    source: ScanSource
    update: bool = False


class _ScanId(NamedTuple):
    """Which run of which submission, and whether it was started to be one."""

    submission: str
    run: int
    is_update: bool

    def __str__(self) -> str:
        return f"{self.submission}.{self.run}{'.update' if self.is_update else ''}"


@post("/api/v1/skills/-/scan", status_code=200, guards=[limited(SUBMISSIONS)], opt=OWNED)
async def start_scan(request: ClawHubRequest, data: JSONBody[ScanRequest]) -> Document:
    """Look at a published version again, or at the report that is kept of it."""
    source = data.source
    if source.kind != "published":
        raise NotSupported("Only published versions are scanned here. Publish it: it is scanned before it is public.")
    skill = await require_offered(await find_named(request, source.slug, source.owner_handle or ""))
    version = await published_version(skill, source.version or "")
    identity = _ScanId(version.submission_id, version.run, False)
    if data.update:
        identity = await _rescan(request, skill, version.version)
    status = "queued" if data.update else "succeeded"
    return Response(
        {
            "ok": True,
            "scanId": str(identity),
            "jobId": identity.submission,
            "status": status,
            "sourceKind": "published",
            "update": data.update,
        }
    )


async def _rescan(request: ClawHubRequest, skill: Skill, version: str) -> _ScanId:
    caller = caller_of(request)
    if not caller.may(Permission.MODERATE) and not await may_manage(caller, skill.slug):
        raise NotAllowed(f"{skill.slug} is not yours to have scanned again. Without --update its report is shown.")
    if version != skill.version:
        raise NotSupported(f"Only the newest version, {skill.version}, is scanned again. {version} keeps its report.")
    submission = await rescan_skill(skill.slug, actor=Actor.SYSTEM)
    return _ScanId(submission.id, submission.run, True)


@get("/api/v1/skills/-/scan/{identity:str}", opt=OWNED)
async def show_scan(request: ClawHubRequest, identity: FromPath[str]) -> Document:
    """How a scan stands, with its report once there is one."""
    asked = _parse(identity)
    submission = await _require_visible(request, asked)
    return Response(await _describe(asked, submission), headers=NOT_KEPT)


async def _describe(asked: _ScanId, submission: Submission) -> dict[str, object]:
    scan = await get_scan_of_run(asked.submission, asked.run)
    is_active = submission.run == asked.run and CATEGORY_OF[submission.state] is Category.ACTIVE
    status = "queued" if submission.state is SubmissionState.RECEIVED else "running"
    if not is_active:
        status = "failed" if scan is None else "succeeded"
    told: dict[str, object] = {
        "ok": True,
        "scanId": str(asked),
        "status": status,
        "sourceKind": "published",
        "update": asked.is_update,
        "writtenBack": asked.is_update and status == "succeeded",
        "artifact": {"slug": submission.slug, "displayName": submission.skill_name, "version": submission.version},
        "createdAt": ms_from_iso(submission.created_at),
        "updatedAt": ms_from_iso(submission.updated_at),
    }
    if scan is not None and not is_active:
        told |= {"report": _view_report(scan.report), "completedAt": ms_from_iso(scan.scanned_at)}
    if status == "failed":
        told["lastError"] = f"There is no report of this run. The submission is {submission.state.value}."
    return told


def _view_report(report: ScanReport) -> dict[str, object]:
    """A report of ours where clients look for one; scanners that we do not have are not there."""
    status = _STATUSES[report.verdict]
    summary = f"{report.verdict.value}, {report.score} of 100, {len(report.findings)} findings."
    codes = list(dict.fromkeys(finding.rule_id for finding in report.findings))
    findings = [
        {
            "code": finding.rule_id,
            "severity": finding.severity.value,
            "file": finding.file,
            "line": finding.line,
            "message": finding.message,
            "remediation": finding.fix,
        }
        for finding in report.findings[:_MOST_TOLD]
    ]
    return {
        "clawscan": {"status": status, "verdict": status, "summary": summary},
        "skillspector": None,
        "staticAnalysis": {"status": status, "reasonCodes": codes, "summary": summary, "findings": findings},
        "virustotal": None,
    }


@get("/api/v1/skills/-/scan/{identity:str}/download", opt=OWNED, media_type="application/zip")
async def download_scan(request: ClawHubRequest, identity: FromPath[str]) -> Response[bytes]:
    """The whole report of a scan."""
    asked = _parse(identity)
    submission = await _require_visible(request, asked)
    return await _zip_of(await _describe(asked, submission), await get_scan_of_run(asked.submission, asked.run))


@get("/api/v1/skills/-/scan/download/{slug:str}", opt=OWNED, media_type="application/zip")
async def download_report(
    request: ClawHubRequest, slug: FromPath[str], version: Text = "", kind: Text = "skill", owner: Owner = ""
) -> Response[bytes]:
    """The whole report that is kept of a version."""
    if kind != "skill":
        raise NotSupported("This registry has skills and no plugins.")
    skill = await require_offered(await find_named(request, slug, owner))
    found = await published_version(skill, version)
    asked = _ScanId(found.submission_id, found.run, False)
    submission = await _require_visible(request, asked)
    return await _zip_of(await _describe(asked, submission), await get_scan_of_run(asked.submission, asked.run))


async def _zip_of(manifest: dict[str, object], scan: ScanRecord | None) -> Response[bytes]:
    if scan is None:
        raise NotFound("The report of this scan is not kept any more, or there is none yet.")
    files = [
        SkillFile(path="manifest.json", content=msgspec.json.format(msgspec.json.encode(manifest), indent=2)),
        SkillFile(path="report.json", content=msgspec.json.format(msgspec.json.encode(scan.report), indent=2)),
    ]
    content = await asyncio.to_thread(build_zip, make_content(files))
    return Response(content, media_type="application/zip", headers=NOT_KEPT)


def _parse(identity: str) -> _ScanId:
    submission, _, rest = identity.partition(".")
    run, _, update = rest.partition(".")
    if not run.isascii() or not run.isdigit() or len(run) > 9 or update not in ("", "update"):
        raise InvalidInput("This is no id of a scan.")
    return _ScanId(submission, int(run), update == "update")


async def _require_visible(request: ClawHubRequest, asked: _ScanId) -> Submission:
    """The submission of a scan, for whom its report is: everybody where it is published, else who submitted or owns it."""
    found = await find_submission(asked.submission)
    caller = caller_of(request)
    if found is not None:
        submission = found.submission
        published = None if submission.slug is None else await find_skill(submission.slug)
        is_public = published is not None and not published.is_withdrawn
        if is_public or await has_submitted(caller.id, submission.id) or await publishes(caller, submission):
            return submission
    raise NotFound("There is no such scan.")


SCANNING_ROUTES = [start_scan, show_scan, download_scan, download_report]
