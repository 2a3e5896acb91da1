"""The list of everything that looks at a skill. A new view, parser or flow joins here, and nowhere else.

The order matters in one way: where two analysers report the same rule in the same file, the first one's place is shown.
Each stands alone, so that one that fails does not take others with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from vskill_platform.scanning.tier1 import hidden_text, structure
from vskill_platform.scanning.tier1.matching import pattern_analyser
from vskill_platform.scanning.tier1.skill import Analyser, Hit, LimitHit, Observation, SkillUnderScan
from vskill_platform.scanning.tier1.views import frontmatter_views, normalised_views, raw_views

Check = Callable[[SkillUnderScan], structure.Seen]


class NamedAnalyser(NamedTuple):
    """An analyser and the name it has in a report when it fails."""

    name: str
    analyse: Analyser


CHECKS: tuple[Check, ...] = (
    structure.missing_skill_file,
    structure.missing_frontmatter,
    structure.escaping_symlink,
    structure.inner_symlink,
    structure.submodule,
    structure.special_entry,
    structure.oversized_file,
    structure.executable_binary,
    structure.archive,
    structure.unknown_binary,
    structure.large_file_pointer,
    structure.false_extension,
    structure.long_line,
    structure.blank_padding,
    hidden_text.tag_characters,
    hidden_text.direction_controls,
    hidden_text.zero_width_characters,
    hidden_text.variation_selectors,
)


def check_analyser(check: Check) -> NamedAnalyser:
    """The analyser that reports what a check sees under the rules that name it."""
    name = check.__name__

    def observe_check(skill: SkillUnderScan) -> Iterator[Observation]:
        rules = [rule.id for rule in skill.ruleset.check_rules if rule.check == name]
        for seen in check(skill):
            if isinstance(seen, LimitHit):
                yield seen
            else:
                yield from (Hit(rule, *seen, layer="structure") for rule in rules)

    return NamedAnalyser(name, observe_check)


CHECK_NAMES = frozenset(check.__name__ for check in CHECKS)

ANALYSERS: tuple[NamedAnalyser, ...] = (
    NamedAnalyser("raw", pattern_analyser(raw_views)),
    NamedAnalyser("normalised", pattern_analyser(normalised_views)),
    NamedAnalyser("frontmatter", pattern_analyser(frontmatter_views)),
    *(check_analyser(check) for check in CHECKS),
)
