"""What keeps the rules from being slow on hostile text: a linear engine, bounded memory, no huge repetitions.

How the time grows is measured by the benchmark `scan_growth`; here stands what can be said without a clock.
"""

from __future__ import annotations

import re

import pytest

from vskill_platform.scanning.tier1.file_kinds import FileKind
from vskill_platform.scanning.tier1.patterns import GROUP_SIZE, PATTERN_MEMORY, Pattern, PatternSet, loosened
from vskill_platform.scanning.tier1.rules import Rule, read_ruleset

LARGEST_REPETITION = 500
LARGEST_PROGRAM = 20_000
RULES = read_ruleset().pattern_rules


def sources_of(rule: Rule) -> list[str]:
    return [source for source in (rule.pattern, rule.unless) if source is not None]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_pattern_fits_into_bounded_memory__and_is_no_huge_program(rule: Rule) -> None:
    assert PATTERN_MEMORY <= 2 * 1024 * 1024
    for source in sources_of(rule):
        assert 0 < Pattern(source).program_size <= LARGEST_PROGRAM
        assert Pattern(loosened(source)).program_size > 0


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_pattern_has_no_huge_repetition__that_would_multiply_its_states(rule: Rule) -> None:
    for source in sources_of(rule):
        counts = [int(count) for pair in re.findall(r"\{(\d+)(?:,(\d*))?\}", source) for count in pair if count]
        assert max(counts, default=0) <= LARGEST_REPETITION


def test_first_pass_finds_every_example__of_every_rule() -> None:
    first_pass = PatternSet([rule.pattern for rule in RULES if rule.pattern])
    for number, rule in enumerate(RULES):
        if rule.applies_to <= {FileKind.DECODED, FileKind.UNCOVERED}:
            continue  # its examples are written in code, and the pattern sees what they stand for
        for example in rule.matches:
            assert number in first_pass.which(example.encode()), f"{rule.id} would miss {example!r}"


def test_groups_stay_small__because_states_multiply_in_a_group() -> None:
    assert GROUP_SIZE <= 8
