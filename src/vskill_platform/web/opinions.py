"""Second opinions as pages and the API show them: each provider apart, and what the judge said.

An opinion is about bytes. What is shown beside a version or a submission is about its very bytes; what a provider said of others
is not shown there. Why a scan did not end (a tool that is not installed, a worker that fell silent) is the operator's business
and told on the panel alone.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from vskill_platform.domain.external_scan import ExternalFinding, ExternalScanStatus
from vskill_platform.domain.judgement import FindingJudgement
from vskill_platform.domain.records import Submission
from vskill_platform.domain.scan import Severity, Verdict
from vskill_platform.domain.skill import SkillVersion
from vskill_platform.domain.times import ms_from_iso
from vskill_platform.stores.external_scans import ExternalScan, list_external_scans
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.scans import JudgementRecord, get_judgement_of_run
from vskill_platform.worker_context import current_env

_UNFINISHED = (ExternalScanStatus.ERROR, ExternalScanStatus.TIMED_OUT)


class ProviderOpinion(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What one provider says of these bytes. `isLate` says that its answer is overdue; score and findings come with it."""

    provider: str
    status: ExternalScanStatus
    is_late: bool
    score: int | None
    provider_version: str
    requested_at: str
    completed_at: str | None
    duration_ms: float
    summary: str
    findings: tuple[ExternalFinding, ...]
    left_off: int

    @property
    def is_open(self) -> bool:
        """Whether an answer may still come."""
        return self.status in (ExternalScanStatus.PENDING, ExternalScanStatus.RUNNING)


class JudgeOpinion(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the judge says of these bytes. `verdict` is the one that counts; null where it gave none, and `problem` says why.

    `leftOut` names what it was not shown, `addressed` where the skill speaks to whoever judges it: either way no pass counts.
    """

    model: str
    prompt_version: str
    judged_at: str
    verdict: Verdict | None
    score: int | None
    findings: tuple[FindingJudgement, ...]
    concerns: tuple[str, ...]
    problem: str
    left_out: tuple[str, ...]
    addressed: tuple[str, ...]
    is_from_cache: bool


class Opinions(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Every second opinion on these bytes. `judge` is null where none was asked, or what it said is no longer kept."""

    content_digest: str
    providers: tuple[ProviderOpinion, ...]
    judge: JudgeOpinion | None

    @property
    def is_open(self) -> bool:
        """Whether an answer may still come."""
        return any(opinion.is_open for opinion in self.providers)

    @property
    def is_empty(self) -> bool:
        """Whether nobody was asked."""
        return not self.providers and self.judge is None

    @property
    def objecting(self) -> tuple[ProviderOpinion, ...]:
        """Those that fail it."""
        return tuple(opinion for opinion in self.providers if opinion.status is ExternalScanStatus.FAIL)


async def opinions_on_version(version: SkillVersion) -> Opinions:
    """The second opinions on a published version. Raises StoreUnavailable where they cannot be read."""
    scans = require_readable(await list_external_scans(version.slug))
    judged = await get_judgement_of_run(version.submission_id, version.run)
    return collect_opinions(scans, judged, content_digest=version.content_digest)


async def opinions_on_submission(submission: Submission) -> Opinions | None:
    """The second opinions on what a submission's present run is about; None while nobody has read its bytes."""
    if submission.pin is None:
        return None
    digest = submission.pin.content_digest
    scans = list(require_readable(await list_external_scans(submission.id)))
    if submission.slug is not None:
        known = {scan.provider for scan in scans if scan.is_about(digest)}
        published = require_readable(await list_external_scans(submission.slug))
        scans += [scan for scan in published if scan.provider not in known]
    judged = await get_judgement_of_run(submission.id, submission.run)
    return collect_opinions(scans, judged, content_digest=digest)


def collect_opinions(scans: Iterable[ExternalScan], judged: JudgementRecord | None, *, content_digest: str) -> Opinions:
    """What is about these bytes, by provider. A request that has not been taken up may not know its bytes yet."""
    about = [scan for scan in scans if scan.content_digest in (content_digest, "")]
    is_same = judged is not None and judged.content_digest == content_digest
    return Opinions(
        content_digest=content_digest,
        providers=tuple(describe_scan(scan) for scan in sorted(about, key=lambda scan: scan.provider)),
        judge=describe_judgement(judged) if judged is not None and is_same else None,
    )


def describe_scan(scan: ExternalScan) -> ProviderOpinion:
    """What strangers may know of a scan: the gravest findings first, and not why it did not end."""
    env = current_env("clock")
    age_ms = env.clock.now_ms() - ms_from_iso(scan.requested_at)
    return ProviderOpinion(
        provider=scan.provider,
        status=scan.status,
        is_late=scan.is_open and age_ms > env.settings.external_scans_wait_s * 1000,
        score=scan.score,
        provider_version=scan.provider_version,
        requested_at=scan.requested_at,
        completed_at=scan.completed_at,
        duration_ms=scan.duration_ms,
        summary="" if scan.status in _UNFINISHED else scan.summary,
        findings=tuple(sorted(scan.findings, key=_gravity)),
        left_off=scan.left_off,
    )


def describe_judgement(record: JudgementRecord) -> JudgeOpinion:
    """What strangers may know of a judgement: all but the model's own words as it wrote them, and what they cost."""
    said = record.judgement
    return JudgeOpinion(
        model=said.model,
        prompt_version=said.prompt_version,
        judged_at=record.judged_at,
        verdict=said.counted_verdict,
        score=said.score,
        findings=said.findings,
        concerns=said.concerns,
        problem=said.problem,
        left_out=said.left_out,
        addressed=said.addressed,
        is_from_cache=said.is_from_cache,
    )


_ORDER = {severity: number for number, severity in enumerate(Severity)}


def _gravity(finding: ExternalFinding) -> tuple[int, str, int]:
    return _ORDER[finding.severity], finding.file, finding.line
