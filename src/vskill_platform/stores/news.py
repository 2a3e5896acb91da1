"""What the event log says of submissions and skills: the row as it was then, so that who follows the log reads nothing else.

Everything in here is shown to strangers. What they may not see must not be a field of these records.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from vskill_platform.domain.records import HistoryEntry, Submission
from vskill_platform.domain.scan import ENDED_EARLY, ScanReport, Verdict
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.submission import SubmissionState, Trigger
from vskill_platform.ports.commit import Emit
from vskill_platform.ports.events import Event

CREATED = "submission.created"
CHANGED = "submission.state_changed"
SCANNED = "scan.completed"
PUBLISHED = "skill.published"
RESCANNED = "skill.rescanned"
HEALTH_CHANGED = "repo.health_changed"
SOURCE_CHANGED = "repo.source_changed"

N = TypeVar("N")


class SubmissionNews(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One step of a submission. Events that older versions wrote have nothing but id, states and run."""

    id: str
    state: SubmissionState
    source: SubmissionState | None = msgspec.field(default=None, name="from")
    trigger: Trigger | None = None
    run: int = 1
    repo_url: str = ""
    skill_name: str = ""
    reason: str | None = None
    parent_id: str | None = None
    slug: str | None = None
    version: str | None = None
    verdict: Verdict | None = None
    score: int | None = None
    created_at: str = ""
    updated_at: str = ""


class ScanNews(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a tier said of a submission's bytes. `limits_hit` counts what kept it from seeing everything."""

    id: str
    run: int
    tier: str
    verdict: Verdict
    score: int
    findings: int
    limits_hit: int = 0
    ended_early: bool = False


class SkillNews(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A version that was published, or scanned again. `previous_version` is null where the skill is new."""

    version: str
    previous_version: str | None = None
    name: str = ""
    repo_url: str = ""
    publisher: str = ""
    tier: str = ""
    score: int | None = None
    content_digest: str = ""
    submission_id: str = ""
    gained: dict[str, int] | None = None


_steps = msgspec.json.Decoder(SubmissionNews)
_scans = msgspec.json.Decoder(ScanNews)
_skills = msgspec.json.Decoder(SkillNews)


def telling_step(submission: Submission, entry: HistoryEntry) -> Emit:
    """The event of one step."""
    news = SubmissionNews(
        id=submission.id,
        state=entry.state,
        source=entry.source,
        trigger=entry.trigger,
        run=entry.run,
        repo_url=submission.repo_url,
        skill_name=submission.skill_name,
        reason=submission.reason,
        parent_id=submission.parent_id,
        slug=submission.slug,
        version=submission.version,
        verdict=submission.verdict,
        score=submission.score,
        created_at=submission.created_at,
        updated_at=submission.updated_at,
    )
    return Emit(CREATED if entry.source is None else CHANGED, submission.id, msgspec.json.encode(news))


def telling_scan(identity: str, report: ScanReport, *, run: int, tier: str) -> Emit:
    """The event of a scan that has ended with a report."""
    news = ScanNews(
        id=identity,
        run=run,
        tier=tier,
        verdict=report.verdict,
        score=report.score,
        findings=len(report.findings),
        limits_hit=len(report.limits_hit),
        ended_early=not ENDED_EARLY.isdisjoint(report.limits_hit),
    )
    return Emit(SCANNED, identity, msgspec.json.encode(news))


def telling_skill(skill: Skill, news: SkillNews, *, is_new: bool) -> Emit:
    """The event of a version that was published, or of one that was there already and has been scanned again."""
    return Emit(PUBLISHED if is_new else RESCANNED, skill.slug, msgspec.json.encode(news))


def read_step(event: Event) -> SubmissionNews | None:
    """The step that an event tells of; None for any other event, and for one that this version cannot read."""
    return _read(event, _steps) if event.kind in (CREATED, CHANGED) else None


def read_scan(event: Event) -> ScanNews | None:
    """The scan that an event tells of; None for any other event, and for one that this version cannot read."""
    return _read(event, _scans) if event.kind == SCANNED else None


def read_skill(event: Event) -> SkillNews | None:
    """The version that an event tells of; None for any other event, and for one that this version cannot read."""
    return _read(event, _skills) if event.kind in (PUBLISHED, RESCANNED) else None


def _read(event: Event, decoder: msgspec.json.Decoder[N]) -> N | None:
    try:
        return decoder.decode(event.data)
    except msgspec.DecodeError:
        return None
