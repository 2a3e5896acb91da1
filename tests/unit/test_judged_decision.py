"""From what both tiers say to what becomes of the submission."""

from __future__ import annotations

import msgspec
import pytest

from tests.judge.asking import FINDING, make_finding, make_report
from vskill_platform.domain.decision import tier_for
from vskill_platform.domain.judged_decision import NEVER_CLEARED, decide_judged, is_verified
from vskill_platform.domain.judgement import FindingJudgement, Judgement, verdict_for
from vskill_platform.domain.scan import Finding, ScanReport, Severity, Threat, Verdict
from vskill_platform.domain.skill import CertTier
from vskill_platform.domain.submission import Actor, SubmissionState, check_transition
from vskill_platform.domain.vendor import Vendor

S, V = SubmissionState, Verdict
VENDOR = Vendor(source="github.com/acme", reason="Known.", since="", by="user_1")
LOW = make_finding("LO-1", severity=Severity.LOW)
INFO = make_finding("IN-1", severity=Severity.INFO)


def judged(verdict: Verdict, *cleared: Finding, confirmed: tuple[Finding, ...] = (), **fields: object) -> Judgement:
    score = {V.PASS: 90, V.CONCERNS: 70, V.FAIL: 20}[verdict]
    said = [
        FindingJudgement(rule_id=one.rule_id, file=one.file, line=one.line, is_confirmed=is_confirmed, reason="r")
        for is_confirmed, some in ((False, cleared), (True, confirmed))
        for one in some
    ]
    bare = Judgement(
        model="m", prompt_version="1", verdict=verdict, score=score, findings=tuple(said), concerns=("It phones home.",)
    )
    return msgspec.structs.replace(bare, **fields)


UNAVAILABLE = Judgement(model="m", prompt_version="1", problem="It is down.", problem_code="judge_unavailable")
VOID = Judgement(model="m", prompt_version="1", problem="It is void.", problem_code="judge_void")
INJECTION = make_finding("PI-1", category=Threat.PROMPT_INJECTION)
CRITICAL = make_finding("CR-1", severity=Severity.CRITICAL)
CLEAN, DOUBTFUL = make_report(), make_report(FINDING)
BAD = make_report(CRITICAL, verdict=V.FAIL)
CRITICAL_BUT_NOT_FAILED = make_report(CRITICAL)
UNSEEN = make_report(FINDING, limits_hit=("time_limit",))

TABLE: dict[str, tuple[ScanReport, Judgement, SubmissionState, str | None]] = {
    "both pass": (CLEAN, judged(V.PASS), S.AUTO_APPROVED, None),
    "both pass, with a low finding": (
        make_report(LOW, verdict=V.PASS), judged(V.PASS, confirmed=(LOW,)), S.AUTO_APPROVED, None,
    ),
    "judge doubts": (CLEAN, judged(V.CONCERNS), S.NEEDS_REVIEW, "judge_concerns"),
    "judge fails": (CLEAN, judged(V.FAIL), S.REJECTED, "tier2_failed"),
    "judge is down": (CLEAN, UNAVAILABLE, S.NEEDS_REVIEW, "judge_unavailable"),
    "answer is void": (CLEAN, VOID, S.NEEDS_REVIEW, "judge_void"),
    "not all was shown": (CLEAN, judged(V.PASS, left_out=("a.py",)), S.NEEDS_REVIEW, "judge_concerns"),
    "spoken to": (CLEAN, judged(V.PASS, addressed=("SKILL.md:3",)), S.NEEDS_REVIEW, "judge_concerns"),
    "not all was shown, and it fails": (CLEAN, judged(V.FAIL, left_out=("a.py",)), S.REJECTED, "tier2_failed"),
    "finding cleared": (DOUBTFUL, judged(V.PASS, FINDING), S.AUTO_APPROVED, None),
    "finding cleared, another informs": (make_report(FINDING, INFO), judged(V.PASS, FINDING), S.AUTO_APPROVED, None),
    "finding confirmed": (DOUBTFUL, judged(V.PASS, confirmed=(FINDING,)), S.NEEDS_REVIEW, "concerns"),
    "finding not spoken of": (DOUBTFUL, judged(V.PASS), S.NEEDS_REVIEW, "concerns"),
    "one of two cleared": (make_report(FINDING, LOW), judged(V.PASS, FINDING), S.NEEDS_REVIEW, "concerns"),
    "another file cleared": (
        DOUBTFUL, judged(V.PASS, make_finding(file="other.md")), S.NEEDS_REVIEW, "concerns",
    ),
    "finding cleared, not all shown": (
        DOUBTFUL, judged(V.PASS, FINDING, left_out=("a.py",)), S.NEEDS_REVIEW, "judge_concerns",
    ),
    "finding cleared, judge doubts": (DOUBTFUL, judged(V.CONCERNS, FINDING), S.NEEDS_REVIEW, "judge_concerns"),
    "doubtful, judge fails": (DOUBTFUL, judged(V.FAIL, FINDING), S.REJECTED, "tier2_failed"),
    "doubtful, judge is down": (DOUBTFUL, UNAVAILABLE, S.NEEDS_REVIEW, "judge_unavailable"),
    "no finding to clear": (make_report(verdict=V.CONCERNS), judged(V.PASS), S.NEEDS_REVIEW, "concerns"),
    "critical cleared": (CRITICAL_BUT_NOT_FAILED, judged(V.PASS, CRITICAL), S.NEEDS_REVIEW, "concerns"),
    "critical cleared, failed": (BAD, judged(V.PASS, CRITICAL), S.TIER1_FAILED, "tier1_failed"),
    "injection cleared": (make_report(INJECTION), judged(V.PASS, INJECTION), S.NEEDS_REVIEW, "concerns"),
    "scan saw not everything": (UNSEEN, judged(V.PASS, FINDING), S.NEEDS_REVIEW, "scan_incomplete"),
    "scan saw not everything, judge fails": (UNSEEN, judged(V.FAIL), S.REJECTED, "tier2_failed"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_two_tiers_lead_to_one_state(name: str) -> None:
    report, judgement, state, reason = TABLE[name]
    decision = decide_judged(report, judgement)
    assert (decision.target, decision.reason) == (state, reason)
    assert decision.message
    if state is not S.TIER1_FAILED:
        check_transition(S.TIER2_SCANNING, decision.target, trigger=decision.trigger, actor=Actor.WORKER)


@pytest.mark.parametrize("category", sorted(NEVER_CLEARED))
def test_finding_is_not_cleared_by_a_model__when_it_is_written_for_models_or_closed_to_them(category: Threat) -> None:
    finding = make_finding(category=category, severity=Severity.MEDIUM)
    assert decide_judged(make_report(finding), judged(V.PASS, finding)).target is S.NEEDS_REVIEW


def test_published_bytes_are_not_taken_away_by_a_model__when_it_fails_them() -> None:
    decision = decide_judged(CLEAN, judged(V.FAIL), is_offered=True)
    assert (decision.target, decision.reason) == (S.NEEDS_REVIEW, "judge_failed")
    assert decide_judged(BAD, judged(V.FAIL), is_offered=True).target is S.TIER1_FAILED


def test_vendor_is_approved_as_one__only_when_both_tiers_pass() -> None:
    assert decide_judged(CLEAN, judged(V.PASS), vendor=VENDOR).target is S.VENDOR_APPROVED
    assert decide_judged(CLEAN, judged(V.CONCERNS), vendor=VENDOR).target is S.NEEDS_REVIEW
    assert decide_judged(CLEAN, judged(V.FAIL), vendor=VENDOR).target is S.REJECTED
    assert decide_judged(DOUBTFUL, judged(V.PASS, FINDING), vendor=VENDOR).target is S.AUTO_APPROVED


def test_skill_is_verified__only_when_both_tiers_pass_by_themselves() -> None:
    assert is_verified(CLEAN, judged(V.PASS))
    assert not is_verified(CLEAN, None)
    assert not is_verified(CLEAN, judged(V.PASS, left_out=("a.py",)))
    assert not is_verified(DOUBTFUL, judged(V.PASS, FINDING))
    assert not is_verified(CLEAN, UNAVAILABLE)
    assert tier_for(S.AUTO_APPROVED, is_verified=True) is CertTier.VERIFIED
    assert tier_for(S.VENDOR_APPROVED, is_verified=True) is CertTier.CERTIFIED
    assert tier_for(S.AUTO_APPROVED, is_approved_by_hand=True) is CertTier.CERTIFIED
    assert tier_for(S.AUTO_APPROVED) is CertTier.SCANNED


@pytest.mark.parametrize(
    ("score", "verdict"), [(0, V.FAIL), (59, V.FAIL), (60, V.CONCERNS), (79, V.CONCERNS), (80, V.PASS), (100, V.PASS)]
)
def test_score_has_one_verdict(score: int, verdict: Verdict) -> None:
    assert verdict_for(score) is verdict
