"""Rules that are right only in company: what they find is common in honest skills, and an attack has more to show than that.

A job that runs every night, a key that may log in, a word about sending tokens: of skills that nobody had looked at, those in
which nothing else that is grave was found were mostly honest, and the attacks among them were found by other rules too. So the
finding stays, and counts as the rule's `when_alone` says until a rule that is enough by itself finds something as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from vskill_platform.domain.scan import Finding, Severity
from vskill_platform.scanning.tier1.meaning.stances import Stance
from vskill_platform.scanning.tier1.rules import Rule

GRAVE = frozenset([Severity.CRITICAL, Severity.HIGH])


def in_company(findings: Iterable[Finding], rules: Mapping[str, Rule]) -> list[Finding]:
    """The findings, each as grave as it is beside the others."""
    found = list(findings)
    if any(_is_enough(finding, rules[finding.rule_id]) for finding in found):
        return found
    return [_alone(finding, rules[finding.rule_id]) if finding.severity in GRAVE else finding for finding in found]


def _is_enough(finding: Finding, rule: Rule) -> bool:
    """Whether a finding is grave whatever else there is."""
    return finding.severity in GRAVE and rule.severity_when_alone in GRAVE


def _alone(finding: Finding, rule: Rule) -> Finding:
    return msgspec.structs.replace(finding, severity=rule.severity_when_alone, context=Stance.ALONE.value)
