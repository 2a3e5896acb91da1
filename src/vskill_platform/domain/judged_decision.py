"""From what both tiers said to what becomes of the submission.

The judge is a model that reads text of strangers. Its word can hold a skill back; it lets one pass only where tier 1 found
nothing that a person has to see. It clears no critical finding, no text that is written to sway models, nothing it cannot read.
"""

from __future__ import annotations

from vskill_platform.domain.decision import Decision, decide
from vskill_platform.domain.judgement import Judgement
from vskill_platform.domain.scan import Finding, ScanReport, Severity, Threat, Verdict
from vskill_platform.domain.submission import SubmissionState, Trigger
from vskill_platform.domain.vendor import Vendor

NEVER_CLEARED = frozenset(
    {Threat.PROMPT_INJECTION, Threat.PROMPT_LEAK, Threat.CONCEALMENT, Threat.UNANALYSABLE_CONTENT}
)
"""Findings that no model clears: what is written for models, hidden from people, or closed to both."""


def decide_judged(
    report: ScanReport, judgement: Judgement, *, vendor: Vendor | None = None, is_offered: bool = False
) -> Decision:
    """What both tiers decide together. `is_offered` says that people can have these very bytes today.

    What is offered is not taken from people by a model alone: where the judge fails it, a person decides.
    """
    verdict = judgement.counted_verdict
    if report.verdict is Verdict.FAIL:
        return decide(report, vendor=vendor)
    if verdict is None:
        return _to_a_person(judgement.problem_code, f"{judgement.problem} A person decides.")
    if verdict is Verdict.FAIL and not is_offered:
        message = f"Turned down by the judge with {judgement.score} of 100{_because(judgement)}."
        return Decision(SubmissionState.REJECTED, Trigger.TIER2_FAILED, Trigger.TIER2_FAILED.value, message)
    if verdict is Verdict.FAIL:
        message = (
            f"The judge fails what is published, with {judgement.score} of 100{_because(judgement)}. A person decides."
        )
        return _to_a_person("judge_failed", message)
    if report.limits_hit:
        return decide(report, vendor=vendor)
    if verdict is Verdict.CONCERNS:
        return _to_a_person("judge_concerns", f"A person decides, because {_doubt(judgement)}.")
    return _decide_passed(report, judgement, vendor=vendor)


def is_verified(report: ScanReport, judgement: Judgement | None) -> bool:
    """Whether both tiers let the skill pass, each for itself."""
    has_passed = judgement is not None and judgement.counted_verdict is Verdict.PASS
    return has_passed and report.verdict is Verdict.PASS


def is_cleared(report: ScanReport, judgement: Judgement) -> bool:
    """Whether the judge calls every finding that counts a false positive, and each is one that it may clear."""
    cleared = {(said.rule_id, said.file) for said in judgement.findings if not said.is_confirmed}
    counted = [finding for finding in report.findings if finding.severity is not Severity.INFO]
    return all(_may_be_cleared(found) and (found.rule_id, found.file) in cleared for found in counted) and bool(counted)


def _may_be_cleared(finding: Finding) -> bool:
    return finding.severity is not Severity.CRITICAL and finding.category not in NEVER_CLEARED


def _decide_passed(report: ScanReport, judgement: Judgement, *, vendor: Vendor | None) -> Decision:
    """The judge lets it pass: so be it where tier 1 does, or where every finding that stands against it is cleared."""
    alone = decide(report, vendor=vendor)
    if report.verdict is Verdict.PASS:
        return alone._replace(message=f"{alone.message} The judge gives it {judgement.score} of 100.")
    if not is_cleared(report, judgement):
        return alone
    message = f"The judge gives it {judgement.score} of 100 and calls every finding a false positive."
    return Decision(SubmissionState.AUTO_APPROVED, Trigger.APPROVED, None, message)


def _to_a_person(reason: str, message: str) -> Decision:
    return Decision(SubmissionState.NEEDS_REVIEW, Trigger.REVIEW_NEEDED, reason, message)


def _because(judgement: Judgement) -> str:
    return f": {judgement.concerns[0].rstrip('.')}" if judgement.concerns else ""


def _doubt(judgement: Judgement) -> str:
    if judgement.verdict is Verdict.CONCERNS:
        return f"the judge gives it {judgement.score} of 100{_because(judgement)}"
    if judgement.addressed:
        return f"the skill speaks to whoever judges it ({judgement.addressed[0]})"
    return f"the judge was not shown everything ({len(judgement.left_out)} left out, the first {judgement.left_out[0]})"
