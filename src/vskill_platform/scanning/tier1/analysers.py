"""The list of everything that looks at a skill. A new view, parser or flow joins here, and nowhere else.

The order matters in one way: where two analysers report the same rule in the same file, the first one's place is shown.
Each stands alone, so that one that fails does not take others with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from vskill_platform.scanning.tier1 import hidden_text, structure
from vskill_platform.scanning.tier1.matching import pattern_analyser
from vskill_platform.scanning.tier1.skill import (
    Analyser,
    Fact,
    Finder,
    Hit,
    Joiner,
    LimitHit,
    Observation,
    Sighting,
    SkillUnderScan,
)
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


class NamedFinder(NamedTuple):
    """Something that reads files once and reports under several checks, with the names of those checks."""

    name: str
    find: Finder
    checks: frozenset[str]


class NamedJoiner(NamedTuple):
    """Something that weighs what all others have seen in all files, with the names of the checks it reports under."""

    name: str
    join: Joiner
    checks: frozenset[str]


FINDERS: tuple[NamedFinder, ...] = ()
JOINERS: tuple[NamedJoiner, ...] = ()


def finder_analyser(finder: NamedFinder) -> NamedAnalyser:
    """The analyser that reports what a finder sees under the rules that name its checks."""
    return NamedAnalyser(finder.name, lambda skill: under_rules(skill, finder.find(skill)))


def under_rules(skill: SkillUnderScan, seen: Iterable[Sighting | Fact | LimitHit]) -> Iterator[Observation]:
    """What was seen, with each sighting under every rule that names its check."""
    rules = skill.ruleset.rules_by_check
    for one in seen:
        if isinstance(one, Sighting):
            yield from (Hit(rule, *one[1:]) for rule in rules.get(one.check, ()))
        else:
            yield one


CHECK_NAMES = frozenset(check.__name__ for check in CHECKS).union(
    *(finder.checks for finder in FINDERS), *(joiner.checks for joiner in JOINERS)
)

ANALYSERS: tuple[NamedAnalyser, ...] = (
    NamedAnalyser("raw", pattern_analyser(raw_views)),
    NamedAnalyser("normalised", pattern_analyser(normalised_views)),
    NamedAnalyser("frontmatter", pattern_analyser(frontmatter_views)),
    *(check_analyser(check) for check in CHECKS),
    *(finder_analyser(finder) for finder in FINDERS),
)
