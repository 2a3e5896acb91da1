"""Reviews: when one person's word is enough to publish what the scan did not let pass, and when it takes two.

What has a critical finding is published only if two different people have approved the same bytes in the same run. The
first approval waits with the submission; other bytes or a new run make it void.
"""

from __future__ import annotations

from typing import NamedTuple

from vskill_platform.domain.decision import blocks_its_bytes
from vskill_platform.domain.errors import SecondReviewerNeeded
from vskill_platform.domain.records import Approval, Submission
from vskill_platform.domain.scan import Finding, ScanReport, Severity

_GRAVEST_FIRST = list(Severity)


class Reviewer(NamedTuple):
    """Whoever decides: the id of an account, and its name for people. The operator of the machine is one person."""

    id: str
    name: str


OPERATOR_REVIEWER = Reviewer("operator", "operator")


def needs_two(report: ScanReport) -> bool:
    """Whether approving what was found takes two people."""
    return blocks_its_bytes(report)


def standing_approval(submission: Submission) -> Approval | None:
    """The first approval, if it is about the bytes and the run that the submission is about now."""
    first = submission.first_approval
    if first is None or submission.pin is None or first.run != submission.run:
        return None
    return first if first.content_digest == submission.pin.content_digest else None


def is_enough(submission: Submission, report: ScanReport, reviewer: Reviewer) -> bool:
    """Whether this reviewer's approval publishes. Raises SecondReviewerNeeded for one who has approved it already."""
    if not needs_two(report):
        return True
    first = standing_approval(submission)
    if first is None:
        return False
    if first.by == reviewer.id:
        raise SecondReviewerNeeded(
            f"{first.name} has approved it at {first.at}. It has a critical finding: another reviewer has to approve it too.",
            id=submission.id,
        )
    return True


def worst_finding(report: ScanReport) -> Finding | None:
    """The gravest finding, the first of equals; None where there is none."""
    return min(report.findings, key=lambda found: _GRAVEST_FIRST.index(found.severity), default=None)
