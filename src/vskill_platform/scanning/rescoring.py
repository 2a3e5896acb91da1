"""What a kept report would say if a rule were off or as grave as it is not: from its findings alone, without the skill.

Where the findings do not tell, nothing is guessed. `tests/scanning/test_changes.py` holds the answers to what a scan then says.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from vskill_platform import __version__
from vskill_platform.domain.scan import Finding, ScanReport, Severity, Verdict
from vskill_platform.scanning.company import in_company
from vskill_platform.scanning.limits import ScanLimits
from vskill_platform.scanning.scoring import score, verdict
from vskill_platform.scanning.tier1.meaning.stances import Stance
from vskill_platform.scanning.tier1.rules import Ruleset

OTHER_RULES = "other_rules"
NOT_WEIGHED = "not_weighed"
WAS_OFF = "was_off"
INCOMPLETE = "incomplete"
UNKNOWN_BECAUSE = {
    OTHER_RULES: "They were last scanned by other rules, or by another version of the scanner.",
    NOT_WEIGHED: "The rule only informed, so nobody looked whether these places are quotations.",
    WAS_OFF: "The rule was off when they were scanned, so what it would have found is not known.",
    INCOMPLETE: "Their report has not everything that the scan saw.",
}
_MOST_KEPT = ScanLimits().max_findings


class Rescored(NamedTuple):
    """What a report would say; where that is not known, `unknown` says why and the rest is what it says now."""

    verdict: Verdict
    score: int
    unknown: str = ""


def rescore(report: ScanReport, *, now: Ruleset, then: Ruleset) -> Rescored:
    """What the report, by the rules of now, would say by those of then, which differ in severities and in what is off."""
    unknown = _why_unknown(report, now=now, then=then)
    if unknown:
        return Rescored(report.verdict, report.score, unknown)
    kept = [_at(finding, then) for finding in report.findings if finding.rule_id in then.rules]
    findings = in_company(kept, then.rules)
    points = score(findings)
    return Rescored(verdict(points, findings=findings, limits_hit=report.limits_hit), points)


def _why_unknown(report: ScanReport, *, now: Ruleset, then: Ruleset) -> str:
    if (report.ruleset_version, report.scanner_version) != (now.version, __version__):
        return OTHER_RULES
    if set(then.rules) - set(now.rules):
        return WAS_OFF
    if len(report.findings) >= _MOST_KEPT or score(report.findings) != report.score:
        return INCOMPLETE
    if any(_is_not_weighed(finding, now=now, then=then) for finding in report.findings):
        return NOT_WEIGHED
    return ""


def _is_not_weighed(finding: Finding, *, now: Ruleset, then: Ruleset) -> bool:
    """Whether the finding would count for the first time: whether its places state anything was not asked so far."""
    before, after = now.rules.get(finding.rule_id), then.rules.get(finding.rule_id)
    if before is None or after is None:
        return False
    return before.severity is Severity.INFO and after.severity is not Severity.INFO


def _at(finding: Finding, then: Ruleset) -> Finding:
    """The finding as grave as its rule; what is a quotation only informs, whatever the rule."""
    rule = then.rules[finding.rule_id]
    if finding.context == Stance.ORDINARY:
        return msgspec.structs.replace(finding, severity=rule.severity_when_ordinary)
    if finding.context == Stance.ALONE:
        return msgspec.structs.replace(finding, severity=rule.severity, context=Stance.STATED.value)
    return finding if finding.context else msgspec.structs.replace(finding, severity=rule.severity)
