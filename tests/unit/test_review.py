"""When one person's word publishes, and when it takes two."""

from __future__ import annotations

import msgspec
import pytest

from vskill_platform.domain.errors import SecondReviewerNeeded
from vskill_platform.domain.records import Approval, Pin, Submission
from vskill_platform.domain.review import OPERATOR_REVIEWER, Reviewer, is_enough, standing_approval
from vskill_platform.domain.scan import Finding, Owasp, ScanReport, Severity, Threat, Verdict
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.testing.submissions import submission_at

ADA, BEA = Reviewer("user_1", "ada"), Reviewer("user_2", "bea")
FIRST = Approval(
    by="user_1", name="ada", at="2026-01-01T00:00:00.000Z", reason="Fine.", content_digest="sha256:1", run=1
)


def report(severity: Severity) -> ScanReport:
    found = Finding(
        rule_id="X", category=Threat.FRAUD, owasp=Owasp.MALICIOUS_SKILL, severity=severity, file="SKILL.md", line=1, column=1,
        excerpt="", message="", why="", fix="", layer="raw",
    )  # fmt: skip
    return ScanReport(
        name="x", verdict=Verdict.FAIL, score=0, flagged=True, content_digest="sha256:1", ruleset_version="1",
        scanner_version="1", findings=(found,),
    )  # fmt: skip


def waiting(**fields: object) -> Submission:
    pin = Pin(commit="c", content_digest="sha256:1", tar_digest="sha256:2")
    return submission_at(SubmissionState.NEEDS_REVIEW, updated_ms=0, pin=pin, **fields)


def test_one_is_enough__unless_a_finding_is_critical() -> None:
    assert is_enough(waiting(), report(Severity.HIGH), ADA)
    assert not is_enough(waiting(), report(Severity.CRITICAL), ADA)


def test_second_has_to_be_somebody_else__and_the_operator_is_one_person() -> None:
    critical = report(Severity.CRITICAL)
    assert is_enough(waiting(first_approval=FIRST), critical, BEA)
    assert is_enough(waiting(first_approval=FIRST), critical, OPERATOR_REVIEWER)
    with pytest.raises(SecondReviewerNeeded):
        is_enough(waiting(first_approval=FIRST), critical, ADA)
    by_operator = msgspec.structs.replace(FIRST, by=OPERATOR_REVIEWER.id)
    with pytest.raises(SecondReviewerNeeded):
        is_enough(waiting(first_approval=by_operator), critical, OPERATOR_REVIEWER)


@pytest.mark.parametrize("changes", [{"run": 2}, {"content_digest": "sha256:other"}])
def test_first_approval_is_void__for_another_run_or_other_bytes(changes: dict[str, object]) -> None:
    stale = waiting(first_approval=msgspec.structs.replace(FIRST, **changes))
    assert standing_approval(stale) is None
    assert not is_enough(stale, report(Severity.CRITICAL), BEA)
