"""What had to be uncovered to be seen is suspicious for having been covered.

A rule that hits a file only when its disguise is off says two things: what the rule says, and that somebody did not want it
found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.tier1.file_kinds import FileKind
from vskill_platform.scanning.tier1.skill import Hit, Observation, Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.views.view import CARRIED, DECODED, JOINED, NORMALISED, UNESCAPED, UNQUOTED

CHECK = "hit_only_when_uncovered"
COVERED = frozenset([NORMALISED, CARRIED, DECODED, UNESCAPED, UNQUOTED, JOINED])
"""The layers of what nobody writes so by chance. Comments are no disguise, and have rules of their own."""
PARTS = frozenset([FileKind.HIDDEN, FileKind.DECODED, FileKind.UNCOVERED])
"""Kinds that no file is of: rules for them alone have said already that something was covered."""
GRAVE = frozenset([Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM])


def find_uncovered(skill: SkillUnderScan, seen: Sequence[Observation]) -> Iterator[Sighting]:
    """Where a rule hit a file in a covered layer and in no other."""
    hits = [one for one in seen if isinstance(one, Hit)]
    open_hits = {(hit.rule_id, hit.file) for hit in hits if hit.layer not in COVERED}
    for hit in hits:
        rule = skill.ruleset.rules[hit.rule_id]
        looks_at_files = rule.check is None and not rule.applies_to <= PARTS
        is_covered = hit.layer in COVERED and looks_at_files and (hit.rule_id, hit.file) not in open_hits
        if is_covered and rule.severity in GRAVE:
            yield Sighting(CHECK, hit.file, hit.line, hit.column, hit.excerpt, hit.layer)
