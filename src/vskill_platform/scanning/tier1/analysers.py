"""The list of everything that looks at a skill. A new view, parser or flow joins here, and nowhere else.

The order matters in one way: where two analysers report the same rule in the same file, the first one's place is shown.
Each stands alone, so that one that fails does not take others with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from vskill_platform.scanning.tier1 import hidden_text, structure
from vskill_platform.scanning.tier1.code import eavesdropping, errands, schemes, trust
from vskill_platform.scanning.tier1.code.javascript import finder as javascript
from vskill_platform.scanning.tier1.code.others import finder as others
from vskill_platform.scanning.tier1.code.python import finder as python
from vskill_platform.scanning.tier1.code.shell import finder as shell
from vskill_platform.scanning.tier1.configs import autoruns, declarations, names
from vskill_platform.scanning.tier1.configs import finding as configs
from vskill_platform.scanning.tier1.containers import finding as containers
from vskill_platform.scanning.tier1.containers.finding import find_in_containers
from vskill_platform.scanning.tier1.matching import pattern_analyser
from vskill_platform.scanning.tier1.meaning import (
    handed_on,
    joins,
    likeness,
    mistaken_hosts,
    neighbours,
    promises,
    sections,
    strangers,
    tells,
    unnamed,
)
from vskill_platform.scanning.tier1.meaning.reading import read_prose
from vskill_platform.scanning.tier1.meaning.statements import statement_analyser
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
from vskill_platform.scanning.tier1.views import uncovered
from vskill_platform.scanning.tier1.views.carriers import carried_views
from vskill_platform.scanning.tier1.views.decoded import decoded_views
from vskill_platform.scanning.tier1.views.hidden import hidden_views
from vskill_platform.scanning.tier1.views.normalised import normalised_views
from vskill_platform.scanning.tier1.views.raw import frontmatter_views, raw_views
from vskill_platform.scanning.tier1.views.reading import uncovering_analyser
from vskill_platform.scanning.tier1.views.unquoted import unquoted_views
from vskill_platform.scanning.tier1.yara_matching import yara_analyser

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
    hidden_text.words_taken_apart,
    hidden_text.joiner_in_word,
)


def check_analyser(check: Check) -> NamedAnalyser:
    """The analyser that reports what a check sees under the rules that name it."""
    name = check.__name__

    def observe_check(skill: SkillUnderScan) -> Iterator[Observation]:
        rules = skill.ruleset.rules_by_check.get(name, ())
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


FINDERS: tuple[NamedFinder, ...] = (
    NamedFinder("sections", sections.find_in_sections, sections.CHECKS),
    NamedFinder("neighbours", neighbours.find_orders_in_other_skills, neighbours.CHECKS),
    NamedFinder("containers", find_in_containers, containers.CHECKS),
    NamedFinder("configs", configs.find_in_configs, configs.CHECKS),
    NamedFinder("names", names.find_in_names, names.CHECKS),
    NamedFinder("python", python.find_python_flows, python.CHECKS),
    NamedFinder("shell", shell.find_shell_flows, shell.CHECKS),
    NamedFinder("javascript", javascript.find_javascript_flows, javascript.CHECKS),
    NamedFinder("schemes", schemes.find_schemes, schemes.CHECKS),
    NamedFinder("eavesdropping", eavesdropping.find_eavesdropping, eavesdropping.CHECKS),
    NamedFinder("mistaken-hosts", mistaken_hosts.find_mistaken_hosts, mistaken_hosts.CHECKS),
    NamedFinder("errands", errands.find_errands, errands.CHECKS),
    NamedFinder("trust", trust.find_trust, trust.CHECKS),
    NamedFinder("others", others.find_other_flows, others.CHECKS),
)
JOINERS: tuple[NamedJoiner, ...] = (
    NamedJoiner("declarations", declarations.join_declarations, declarations.CHECKS),
    NamedJoiner("autoruns", autoruns.join_autoruns, autoruns.CHECKS),
    NamedJoiner("joins", joins.join_evidence, joins.CHECKS),
    NamedJoiner("promises", promises.find_broken_promises, promises.CHECKS),
    NamedJoiner("handed-on", handed_on.find_handed_on, handed_on.CHECKS),
    NamedJoiner("unnamed", unnamed.find_unnamed_receivers, unnamed.CHECKS),
    NamedJoiner("uncovered", uncovered.find_uncovered, frozenset([uncovered.CHECK])),
)


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


SEEN_WHILE_UNCOVERING = frozenset(
    ["mixed_script_word", "carried_text", "zero_width_payload", "unseen_sentence", "encoded_program", "encoded_archive"]
)
CHECK_NAMES = frozenset(check.__name__ for check in CHECKS).union(
    SEEN_WHILE_UNCOVERING,
    tells.CHECKS,
    likeness.CHECKS,
    strangers.CHECKS,
    *(finder.checks for finder in FINDERS),
    *(joiner.checks for joiner in JOINERS),
)

ANALYSERS: tuple[NamedAnalyser, ...] = (
    NamedAnalyser("raw", pattern_analyser(raw_views)),
    NamedAnalyser("normalised", uncovering_analyser(normalised_views)),
    NamedAnalyser("carried", uncovering_analyser(carried_views)),
    NamedAnalyser("decoded", uncovering_analyser(decoded_views)),
    NamedAnalyser("unquoted", uncovering_analyser(unquoted_views)),
    NamedAnalyser("hidden", uncovering_analyser(hidden_views)),
    NamedAnalyser("frontmatter", pattern_analyser(frontmatter_views)),
    NamedAnalyser("prose", read_prose),
    NamedAnalyser("description", statement_analyser(frontmatter_views)),
    *(check_analyser(check) for check in CHECKS),
    *(finder_analyser(finder) for finder in FINDERS),
    NamedAnalyser("yara", yara_analyser),
)
