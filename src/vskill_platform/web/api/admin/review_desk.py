"""The review desk as it is read: what waits for a person, and everything that one needs to decide about it."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated, NamedTuple

import msgspec
from litestar import get
from litestar.params import QueryParameter

from vskill_platform.domain.access import Permission
from vskill_platform.domain.capabilities import CapabilityChanges, compare
from vskill_platform.domain.comparison import FileChange, compare_contents
from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.errors import BlobMissing, NotFound, StoreUnavailable
from vskill_platform.domain.records import Approval, HistoryEntry, Submission
from vskill_platform.domain.review import needs_two, standing_approval, worst_finding
from vskill_platform.domain.scan import Capabilities, Finding, ScanReport, Severity, Verdict
from vskill_platform.domain.skill import SkillVersion
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.pipeline.pinning import read_pinned
from vskill_platform.stores.contents import read_content
from vskill_platform.stores.fan_out import settle_each
from vskill_platform.stores.reads import require_complete
from vskill_platform.stores.scans import ScanRecord, get_scan
from vskill_platform.stores.skills import find_skill
from vskill_platform.stores.submissions import (
    get_history,
    get_submission,
    get_submission_index,
    get_submissions_fresh,
)
from vskill_platform.stores.versions import get_version
from vskill_platform.web.access import needs
from vskill_platform.web.api import examples
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.parameters import DEFAULT_LIMIT, Identity, Limit, Offset
from vskill_platform.web.pages.skill import by_severity

TAGS = ["admin"]
_IN_FLIGHT = 16


class Pile(StrEnum):
    """What lies on the desk: what waits for a person, or what the scan has turned down and a person might let pass."""

    WAITING = "waiting"
    FAILED = "failed"


_STATES = {Pile.WAITING: SubmissionState.NEEDS_REVIEW, Pile.FAILED: SubmissionState.TIER1_FAILED}
Which = Annotated[Pile, QueryParameter(name="pile", description="What waits, or what the scan has turned down.")]


class ApprovalView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The first of two approvals that are needed."""

    by: str
    at: str
    reason: str


class FindingPlace(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The gravest finding, and where it is."""

    rule_id: str
    severity: Severity
    message: str
    file: str
    line: int


class DeskRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A submission on the desk. `since` is when it came there."""

    id: str
    skill_name: str
    repo_url: str
    state: SubmissionState
    run: int
    since: str
    verdict: Verdict | None
    score: int | None
    worst: FindingPlace | None
    findings: int | None
    needs_two: bool
    first_approval: ApprovalView | None


class DeskPage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What lies on the desk: what waits longest first, what was turned down newest first."""

    submissions: list[DeskRow]
    total: int
    limit: int
    offset: int


class DeskFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A file of the pinned bytes, and how many findings stand in it."""

    path: str
    size: int
    executable: bool
    findings: int


class DeskItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Everything about one submission. `findings` are null where there is no report, `files` where the bytes are not kept.

    `against` is the published version that `capabilityChanges` and `fileChanges` compare with, null where there is none.
    """

    row: DeskRow
    skill_path: str
    commit: str | None
    content_digest: str | None
    slug: str | None
    findings: list[Finding] | None
    limits_hit: list[str]
    capabilities: Capabilities
    files: list[DeskFile] | None
    against: str | None
    capability_changes: CapabilityChanges | None
    file_changes: list[FileChange]
    history: list[HistoryEntry]


class Looked(NamedTuple):
    """One submission with its bytes, for a page that shows them."""

    item: DeskItem
    content: SkillContent | None


async def read_desk(pile: Pile, *, limit: int, offset: int) -> DeskPage:
    """One page of the desk. Raises StoreUnavailable where a record could not be read."""
    is_waiting = pile is Pile.WAITING
    found = await get_submission_index(
        state=_STATES[pile].value, sort="updated", descending=not is_waiting, limit=limit, offset=offset
    )
    submissions = require_complete(await get_submissions_fresh([row.id for row in found.rows]))
    scans = await settle_each(submissions, get_scan, in_flight=_IN_FLIGHT)
    rows = [_row(submission, _require(scan)) for submission, scan in zip(submissions, scans, strict=True)]
    return DeskPage(submissions=rows, total=found.total, limit=limit, offset=offset)


def _require(scan: ScanRecord | Exception | None) -> ScanReport | None:
    if isinstance(scan, Exception):
        raise StoreUnavailable("A report of a submission on the desk could not be read. Try again shortly.") from scan
    return None if scan is None else scan.report


def _row(submission: Submission, report: ScanReport | None) -> DeskRow:
    worst = None if report is None else worst_finding(report)
    return DeskRow(
        id=submission.id,
        skill_name=submission.skill_name,
        repo_url=submission.repo_url,
        state=submission.state,
        run=submission.run,
        since=submission.updated_at,
        verdict=submission.verdict,
        score=submission.score,
        worst=None if worst is None else _place(worst),
        findings=None if report is None else len(report.findings),
        needs_two=report is not None and needs_two(report),
        first_approval=_view_approval(standing_approval(submission)),
    )


def _place(found: Finding) -> FindingPlace:
    return FindingPlace(
        rule_id=found.rule_id, severity=found.severity, message=found.message, file=found.file, line=found.line
    )


def _view_approval(first: Approval | None) -> ApprovalView | None:
    return None if first is None else ApprovalView(by=first.name, at=first.at, reason=first.reason)


async def read_item(identity: str) -> Looked:
    """One submission with its findings, its bytes and what changed since what is published. Raises NotFound."""
    submission = (await get_submission(identity)).submission
    scan = await get_scan(submission)
    report = None if scan is None else scan.report
    content = await _read_bytes(submission)
    published = await _read_published(submission)
    history = require_complete(await get_history(identity))
    item = DeskItem(
        row=_row(submission, report),
        skill_path=submission.skill_path,
        commit=submission.commit,
        content_digest=None if submission.pin is None else submission.pin.content_digest,
        slug=submission.slug,
        findings=None if report is None else by_severity(report.findings),
        limits_hit=[] if report is None else list(report.limits_hit),
        capabilities=Capabilities() if report is None else report.capabilities,
        files=None if content is None else _files(content, report),
        against=None if published is None else published.version,
        capability_changes=_capability_changes(published, report),
        file_changes=await _file_changes(published, content),
        history=list(history),
    )
    return Looked(item, content)


async def _read_bytes(submission: Submission) -> SkillContent | None:
    if submission.pin is None:
        return None
    try:
        return (await read_pinned(submission.pin)).content
    except BlobMissing:
        return None


async def _read_published(submission: Submission) -> SkillVersion | None:
    """The version of this submission's skill that people get now."""
    found = None if submission.slug is None else await find_skill(submission.slug)
    if found is None or found.is_withdrawn or found.skill.submission_id != submission.id:
        return None
    return await get_version(found.skill.slug, found.skill.version)


def _files(content: SkillContent, report: ScanReport | None) -> list[DeskFile]:
    found = [] if report is None else [finding.file for finding in report.findings]
    return [
        DeskFile(path=file.path, size=len(file.content), executable=file.executable, findings=found.count(file.path))
        for file in content.files
    ]


def _capability_changes(published: SkillVersion | None, report: ScanReport | None) -> CapabilityChanges | None:
    if published is None or report is None:
        return None
    has_same_rules = published.ruleset_version == report.ruleset_version
    return compare(published.capabilities, report.capabilities, since=published.version, has_same_rules=has_same_rules)


async def _file_changes(published: SkillVersion | None, content: SkillContent | None) -> list[FileChange]:
    if published is None or content is None:
        return []
    before = await read_content(published)
    return await asyncio.to_thread(compare_contents, before, content)


_ROW = DeskRow(
    id=examples.ID,
    skill_name="pdf-forms",
    repo_url=examples.REPOSITORY,
    state=SubmissionState.NEEDS_REVIEW,
    run=1,
    since="2026-02-21T10:00:00.000Z",
    verdict=Verdict.CONCERNS,
    score=71,
    worst=FindingPlace(
        rule_id="DE-001", severity=Severity.HIGH, message="Sends a file to another host", file="SKILL.md", line=12
    ),
    findings=3,
    needs_two=False,
    first_approval=None,
)
_ITEM = DeskItem(
    row=_ROW,
    skill_path="skills/pdf-forms",
    commit=examples.COMMIT,
    content_digest=examples.DIGEST,
    slug=None,
    findings=[],
    limits_hit=[],
    capabilities=Capabilities(),
    files=[DeskFile(path="SKILL.md", size=1804, executable=False, findings=1)],
    against=None,
    capability_changes=None,
    file_changes=[],
    history=[],
)


@get(
    "/api/v1/admin/review",
    summary="What waits for a person",
    tags=TAGS,
    opt=described(DeskPage(submissions=[_ROW], total=1, limit=50, offset=0), access=needs(Permission.SEE_PANEL)),
)
async def list_desk(pile: Which = Pile.WAITING, limit: Limit = DEFAULT_LIMIT, offset: Offset = 0) -> DeskPage:
    """Submissions that a person decides about, with the gravest finding and who has approved first."""
    return await read_desk(pile, limit=limit, offset=offset)


@get(
    "/api/v1/admin/review/{identity:str}",
    summary="One submission on the desk",
    tags=TAGS,
    opt=described(_ITEM, errors=(NotFound,), access=needs(Permission.SEE_PANEL)),
)
async def show_item(identity: Identity) -> DeskItem:
    """Its findings, its files, what it can do, and what changed since the version that people get."""
    return (await read_item(identity)).item


DESK_ROUTES = [list_desk, show_item]
