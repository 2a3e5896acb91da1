"""From a scan's report to what becomes of the submission."""

from __future__ import annotations

from typing import NamedTuple

from vskill_platform.domain.records import Submission
from vskill_platform.domain.scan import Finding, ScanReport, Severity, Verdict
from vskill_platform.domain.skill import CertTier
from vskill_platform.domain.submission import SubmissionState, Trigger
from vskill_platform.domain.vendor import Vendor

_TOLD = 3


class Decision(NamedTuple):
    """The step that a report leads to, why in one word, and why in a sentence."""

    target: SubmissionState
    trigger: Trigger
    reason: str | None
    message: str


def decide(report: ScanReport, *, vendor: Vendor | None = None) -> Decision:
    """What tier 1 alone decides: PASS is approved, CONCERNS waits for a person, FAIL is turned down.

    A trusted vendor is scanned like everybody; trust says by whom a PASS is approved, and nothing else.
    """
    match report.verdict:
        case Verdict.PASS if vendor is not None:
            message = f"Passed with {report.score} of 100, and {vendor.source} is a trusted vendor."
            return Decision(SubmissionState.VENDOR_APPROVED, Trigger.VENDOR_TRUSTED, None, message)
        case Verdict.PASS:
            return Decision(
                SubmissionState.AUTO_APPROVED, Trigger.APPROVED, None, f"Passed with {report.score} of 100."
            )
        case Verdict.CONCERNS if report.limits_hit:
            message = f"The scan could not see everything ({', '.join(report.limits_hit[:_TOLD])}): a person decides."
            return Decision(SubmissionState.NEEDS_REVIEW, Trigger.REVIEW_NEEDED, "scan_incomplete", message)
        case Verdict.CONCERNS:
            message = f"A person decides, because of {_told(report)}."
            return Decision(SubmissionState.NEEDS_REVIEW, Trigger.REVIEW_NEEDED, "concerns", message)
        case Verdict.FAIL:
            message = f"Turned down with {report.score} of 100, because of {_told(report)}."
            return Decision(SubmissionState.TIER1_FAILED, Trigger.TIER1_FAILED, "tier1_failed", message)


def tier_for(target: SubmissionState, *, is_approved_by_hand: bool = False, is_verified: bool = False) -> CertTier:
    """How far what is published was verified: certified by a trusted vendor or a person, by both tiers, else scanned."""
    if is_approved_by_hand or target is SubmissionState.VENDOR_APPROVED:
        return CertTier.CERTIFIED
    return CertTier.VERIFIED if is_verified else CertTier.SCANNED


def was_approved(submission: Submission, content_digest: str) -> bool:
    """Whether a person has approved these very bytes."""
    return submission.decided_digest == content_digest and submission.is_approved_by_hand


def decide_again(submission: Submission, content_digest: str) -> Decision | None:
    """What a person decided about these very bytes stands, whatever the scan says of them now; None if nobody did."""
    if submission.decided_digest != content_digest:
        return None
    if submission.is_approved_by_hand:
        return Decision(SubmissionState.AUTO_APPROVED, Trigger.APPROVED, None, "A person has approved these bytes.")
    reason = Trigger.REVIEW_REJECTED.value
    return Decision(SubmissionState.REJECTED, Trigger.SOURCE_REFUSED, reason, "A person has turned these bytes down.")


def blocks_its_bytes(report: ScanReport) -> bool:
    """Whether the findings are such that the same bytes are not even looked at again."""
    return any(finding.severity is Severity.CRITICAL for finding in report.findings)


def _told(report: ScanReport) -> str:
    counted = [finding for finding in report.findings if finding.severity is not Severity.INFO]
    told = ", ".join(_place(finding) for finding in counted[:_TOLD])
    rest = len(counted) - _TOLD
    return f"{told} and {rest} more" if rest > 0 else told or "its score"


def _place(finding: Finding) -> str:
    return (
        f"{finding.rule_id} in {finding.file}:{finding.line}"
        if finding.line
        else f"{finding.rule_id} in {finding.file}"
    )
