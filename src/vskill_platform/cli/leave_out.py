"""Leave one source out: how the scanner would have done on a source whose skills nobody had seen.

Rules are written by people, so a source cannot be taken out of their heads. What can be taken out is every rule that only
this source's malicious skills give a reason for: one that no other source's malicious skills hit. What still flags a skill
is then a rule that proved itself elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from vskill_platform.domain.scan import ScanReport, Verdict
from vskill_platform.scanning.scoring import score, verdict

Found = tuple[str, ScanReport]
"""A malicious skill's source and report."""


def flagged_without_own_rules(malicious: Sequence[Found]) -> dict[str, list[bool]]:
    """For each source, which of its skills are still flagged without the rules that only it gives a reason for."""
    sources_of = defaultdict[str, set[str]](set)
    for source, report in malicious:
        for finding in report.findings:
            sources_of[finding.rule_id].add(source)
    flagged = defaultdict[str, list[bool]](list)
    for source, report in malicious:
        own = {rule for rule, sources in sources_of.items() if sources == {source}}
        flagged[source].append(_is_flagged_without(own, report))
    return dict(flagged)


def _is_flagged_without(rules: Iterable[str], report: ScanReport) -> bool:
    left = [finding for finding in report.findings if finding.rule_id not in rules]
    return verdict(score(left), findings=left, limits_hit=report.limits_hit) is not Verdict.PASS
