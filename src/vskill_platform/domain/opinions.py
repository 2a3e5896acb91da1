"""What the answers of external scanners come to, where a skill waits for them before it is published."""

from __future__ import annotations

from collections.abc import Mapping

from vskill_platform.domain.decision import Decision
from vskill_platform.domain.external_scan import IN_PROGRESS, ExternalScanStatus
from vskill_platform.domain.submission import SubmissionState, Trigger

FAILED, INCOMPLETE, LATE = "external_scan_failed", "external_scan_incomplete", "external_scans_late"
"""Why a person has to decide: a scanner objects, one came to no end, one has not answered in time."""


def decide_opinions(statuses: Mapping[str, ExternalScanStatus]) -> Decision | None:
    """What external scanners decide, by the status of each: nothing where all pass, else that a person does.

    Whoever has not answered by now is late. No silence and no failure of a scanner counts as a pass.
    """
    failed = _named(statuses, ExternalScanStatus.FAIL)
    late = _named(statuses, *IN_PROGRESS)
    broken = _named(statuses, ExternalScanStatus.ERROR, ExternalScanStatus.TIMED_OUT)
    if failed:
        return _person(FAILED, f"A person decides, because {failed} found something wrong.")
    if late:
        return _person(LATE, f"A person decides, because {late} did not answer in time.")
    if broken:
        return _person(INCOMPLETE, f"A person decides, because {broken} came to no result.")
    return None


def _named(statuses: Mapping[str, ExternalScanStatus], *wanted: ExternalScanStatus) -> str:
    return ", ".join(sorted(provider for provider, status in statuses.items() if status in wanted))


def _person(reason: str, message: str) -> Decision:
    return Decision(SubmissionState.NEEDS_REVIEW, Trigger.REVIEW_NEEDED, reason, message)
