"""From a report to what becomes of the submission."""

from __future__ import annotations

import msgspec
import pytest

from vskill_platform.domain.blocklist import Block, BlockKind, block_key, name_block_key, stands_against
from vskill_platform.domain.decision import blocks_its_bytes, decide
from vskill_platform.domain.scan import Finding, Owasp, ScanReport, Severity, Threat, Verdict
from vskill_platform.domain.submission import Actor, SubmissionState

FINDING = Finding(
    rule_id="DX-001",
    category=Threat.DOWNLOAD_EXECUTE,
    owasp=Owasp.MALICIOUS_SKILL,
    severity=Severity.HIGH,
    file="SKILL.md",
    line=7,
    column=1,
    excerpt="curl x | sh",
    message="Pipes a download into a shell.",
    why="why",
    fix="fix",
    layer="raw",
)


def report(verdict: Verdict, *findings: Finding, limits_hit: tuple[str, ...] = ()) -> ScanReport:
    return ScanReport(
        name="demo",
        verdict=verdict,
        score=75,
        flagged=verdict is not Verdict.PASS,
        content_digest="sha256:0",
        ruleset_version="1",
        scanner_version="1",
        limits_hit=limits_hit,
        findings=findings,
    )


@pytest.mark.parametrize(
    ("verdict", "limits_hit", "state", "reason"),
    [
        (Verdict.PASS, (), SubmissionState.AUTO_APPROVED, None),
        (Verdict.CONCERNS, (), SubmissionState.NEEDS_REVIEW, "concerns"),
        (Verdict.CONCERNS, ("time_limit",), SubmissionState.NEEDS_REVIEW, "scan_incomplete"),
        (Verdict.FAIL, (), SubmissionState.TIER1_FAILED, "tier1_failed"),
    ],
)
def test_verdict_leads_to_one_state__without_a_judge(
    verdict: Verdict, limits_hit: tuple[str, ...], state: SubmissionState, reason: str | None
) -> None:
    decision = decide(report(verdict, FINDING, limits_hit=limits_hit))
    assert (decision.target, decision.reason) == (state, reason)


def test_decision_names_rule_file_and_line__when_it_turns_down() -> None:
    many = [msgspec.structs.replace(FINDING, rule_id=f"DX-{number:03d}") for number in range(1, 6)]
    decision = decide(report(Verdict.FAIL, *many))
    assert "DX-001 in SKILL.md:7" in decision.message
    assert "and 2 more" in decision.message


def test_bytes_are_blocked__only_for_a_critical_finding() -> None:
    critical = msgspec.structs.replace(FINDING, severity=Severity.CRITICAL)
    assert blocks_its_bytes(report(Verdict.FAIL, FINDING, critical))
    assert not blocks_its_bytes(report(Verdict.FAIL, FINDING))


def test_block_stands_against_everybody_but_the_submission_that_made_it__unless_a_person_did() -> None:
    made = Block(
        kind=BlockKind.DIGEST, digest="d", reason="r", actor=Actor.SYSTEM, created_at="", submission_id="sub_1"
    )
    assert stands_against(made, "sub_2")
    assert not stands_against(made, "sub_1")
    assert stands_against(msgspec.structs.replace(made, actor=Actor.ADMIN), "sub_1")


def test_block_of_a_name_has_one_key_a_repository__whatever_its_case() -> None:
    block = Block(
        kind=BlockKind.NAME,
        skill_name="PDF",
        repo_url="https://x.example/a/b",
        reason="r",
        actor=Actor.ADMIN,
        created_at="",
    )
    assert block_key(block) == name_block_key("pdf", repo_url="https://x.example/a/b")
    assert block_key(block) != name_block_key("pdf")
