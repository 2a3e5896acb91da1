"""What a scanner elsewhere says of a skill, as it comes over the wire: of a form, within bounds, and not to be believed further.

A score is taken where it is worse than the findings are, and never where it is better; so is a status.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from vskill_platform.domain.external_scan import ExternalReport, ExternalScanStatus
from vskill_platform.domain.scan import Severity

MOST_FINDINGS = 200
MAX_RESULT_BYTES = 1024 * 1024
_Text = Annotated[str, Meta(max_length=2000)]


class ReportedFinding(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One objection. Of the place only file and line are taken: excerpts are made from the skill itself."""

    rule_id: Annotated[str, Meta(min_length=1, max_length=200)]
    severity: Severity
    file: Annotated[str, Meta(max_length=1024)] = ""
    line: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    message: _Text = ""
    fix: _Text = ""


class ReportedResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How a scan elsewhere ended: PASS or FAIL with the findings, TIMED_OUT or ERROR with the reason in `summary`."""

    status: ExternalScanStatus
    findings: Annotated[list[ReportedFinding], Meta(max_length=MOST_FINDINGS)] = []
    left_off: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    score: Annotated[int, Meta(ge=0, le=100)] | None = None
    provider_version: Annotated[str, Meta(max_length=100)] = ""
    summary: _Text = ""
    duration_ms: Annotated[float, Meta(ge=0, le=86_400_000)] = 0.0


def result_of(report: ExternalReport) -> ReportedResult:
    """A report as a remote worker sends it."""
    return ReportedResult(
        status=report.status,
        findings=[
            ReportedFinding(
                rule_id=finding.rule_id[:200],
                severity=finding.severity,
                file=finding.file[:1024],
                line=max(0, finding.line),
                message=finding.message[:2000],
                fix=finding.fix[:2000],
            )
            for finding in report.findings[:MOST_FINDINGS]
        ],
        left_off=report.left_off + max(0, len(report.findings) - MOST_FINDINGS),
        score=report.score,
        provider_version=report.provider_version[:100],
        summary=report.summary[:2000],
        duration_ms=report.duration_ms,
    )
