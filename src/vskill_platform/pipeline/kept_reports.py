"""The kept report on each published skill, part by part, so that memory does not grow with the registry."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from vskill_platform.domain.errors import StoreUnavailable
from vskill_platform.domain.records import Submission
from vskill_platform.domain.scan import ScanReport
from vskill_platform.domain.skill import Skill
from vskill_platform.stores.reads import Settled
from vskill_platform.stores.scans import get_scans_of_runs
from vskill_platform.stores.skills import get_published_skills_list, read_published_part
from vskill_platform.stores.submissions import read_submission_part
from vskill_platform.stores.versions import get_version_runs

T = TypeVar("T")
PART_SKILLS = 100
"""Skills that are read together. Reports may be large, and others want the process meanwhile."""


class KeptReport(NamedTuple):
    """A published skill, and the report that it was published with; None where that is not kept or cannot be read."""

    skill: Skill
    report: ScanReport | None


class ReportPart(NamedTuple):
    """Some skills with their reports, how many records could not be read, and where to go on; None at the end."""

    reports: list[KeptReport]
    malformed: int
    cursor: str | None


async def count_published() -> int:
    """How many skills are published at present."""
    return (await get_published_skills_list(limit=1)).total


async def read_reports(cursor: str | None) -> ReportPart:
    """The next part. Raises StoreUnavailable where the store does not answer: that is never taken for a missing report."""
    part = await read_published_part(cursor, limit=PART_SKILLS)
    skills = _answered(part.skills)
    runs = _answered(await get_version_runs([(skill.slug, skill.version) for skill in skills]))
    scans = _answered(await get_scans_of_runs([(run.submission_id, run.run) for run in runs]))
    reports = {(scan.submission_id, scan.run): scan.report for scan in scans}
    by_slug = {run.slug: reports.get((run.submission_id, run.run)) for run in runs}
    kept = [KeptReport(skill, by_slug.get(skill.slug)) for skill in skills]
    return ReportPart(kept, skills.malformed, part.cursor)


def _answered(settled: Settled[T]) -> Settled[T]:
    if settled.failed:
        raise StoreUnavailable(f"{settled.failed} records could not be read. Try again shortly.", failed=settled.failed)
    return settled


class LastReports(NamedTuple):
    """Some submissions of skills that have been scanned, with what was said in their last run, and where to go on."""

    reports: list[tuple[Submission, ScanReport | None]]
    cursor: str | None


async def read_last_reports(cursor: str | None) -> LastReports:
    """The next part of what was said last of every submission. One whose last run has no verdict is left out."""
    part = await read_submission_part(cursor, limit=PART_SKILLS)
    scanned = [submission for submission in _answered(part.submissions) if submission.verdict is not None]
    scans = _answered(await get_scans_of_runs([(submission.id, submission.run) for submission in scanned]))
    reports = {scan.submission_id: scan.report for scan in scans}
    return LastReports([(submission, reports.get(submission.id)) for submission in scanned], part.cursor)
