"""From findings to a score and a verdict. Pure, and never kinder for having more to look at."""

from __future__ import annotations

from collections.abc import Sequence

from vskill_platform.domain.scan import Finding, Severity, Threat, Verdict

PENALTIES = {
    Severity.CRITICAL: 25,
    Severity.HIGH: 15,
    Severity.MEDIUM: 8,
    Severity.LOW: 3,
    Severity.INFO: 0,
}
MAY_BE_HABITS = frozenset([Severity.MEDIUM, Severity.LOW])
ONE_WISH = frozenset([Threat.PERSISTENCE])
PASS_FROM = 80
CONCERNS_FROM = 50


def score(findings: Sequence[Finding]) -> int:
    """100 less a penalty for each finding, and not below 0.

    What several rules say of one line counts once a category. What one rule says of several files counts once where it is no
    more than medium: it is the habit of whoever wrote them, and a skill of many files is no worse for it than one of few. So
    does what makes something start again, which is one wish and another rule on each system.
    """
    penalties: dict[tuple[str, int, str], int] = {}
    habits: set[tuple[str, Severity]] = set()
    for number, finding in sorted(enumerate(findings), key=lambda each: -PENALTIES[each[1].severity]):
        place = (finding.file, finding.line or -number, finding.category if finding.line else "")
        habit = (finding.category if finding.category in ONE_WISH else finding.rule_id, finding.severity)
        if place not in penalties and habit not in habits:
            penalties[place] = PENALTIES[finding.severity]
            if finding.severity in MAY_BE_HABITS:
                habits.add(habit)
    return max(0, 100 - sum(penalties.values()))


def verdict(points: int, *, findings: Sequence[Finding], limits_hit: Sequence[str]) -> Verdict:
    """What the scan says: a critical finding fails; a high one or a limit that was hit is never a pass."""
    severities = {finding.severity for finding in findings}
    if Severity.CRITICAL in severities or points < CONCERNS_FROM:
        return Verdict.FAIL
    if points < PASS_FROM or Severity.HIGH in severities or limits_hit:
        return Verdict.CONCERNS
    return Verdict.PASS
