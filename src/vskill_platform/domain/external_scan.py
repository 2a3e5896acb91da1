"""The words of a second opinion: what an external scanner says of a skill, and what that comes to."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from vskill_platform.domain.scan import Severity

PASSING_SCORE = 50
_COST = {Severity.CRITICAL: 25, Severity.HIGH: 10, Severity.MEDIUM: 3, Severity.LOW: 1, Severity.INFO: 0}


class ExternalScanStatus(StrEnum):
    """How far an external scan has come, or how it ended."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    PASS = "PASS"
    FAIL = "FAIL"
    TIMED_OUT = "TIMED_OUT"
    ERROR = "ERROR"


IN_PROGRESS = (ExternalScanStatus.PENDING, ExternalScanStatus.RUNNING)


class ExternalFinding(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What an external scanner objects to, in our words. `line` counts from 1; 0 means the file as a whole.

    `same_as` is the rule of ours that found the same in the same place; empty where nobody else has seen it.
    """

    rule_id: str
    severity: Severity
    file: str
    line: int = 0
    message: str = ""
    excerpt: str = ""
    fix: str = ""
    same_as: str = ""


class ExternalReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The whole answer of one provider. `left_off` counts findings beyond those that are kept.

    A scan that did not come to an end (TIMED_OUT, ERROR) has no score, and `summary` says why.
    """

    provider: str
    status: ExternalScanStatus
    provider_version: str = ""
    score: int | None = None
    findings: tuple[ExternalFinding, ...] = ()
    left_off: int = 0
    summary: str = ""
    duration_ms: float = 0.0


def external_score(findings: Iterable[ExternalFinding]) -> int:
    """100 less 25, 10, 3 and 1 for each critical, high, medium and low finding; never below 0."""
    return max(0, 100 - sum(_COST[finding.severity] for finding in findings))


def external_status(findings: Iterable[ExternalFinding]) -> ExternalScanStatus:
    """FAIL with a critical finding or a score below 50, else PASS."""
    kept = list(findings)
    is_critical = any(finding.severity is Severity.CRITICAL for finding in kept)
    return ExternalScanStatus.FAIL if is_critical or external_score(kept) < PASSING_SCORE else ExternalScanStatus.PASS
