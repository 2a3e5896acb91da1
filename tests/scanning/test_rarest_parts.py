"""The part that a pattern is looked for by: without gaps, there wherever the pattern matches, and the rarest there is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vskill_platform.scanning.tier1.patterns import Pattern, loosened
from vskill_platform.scanning.tier1.rarest_parts import rarest_part
from vskill_platform.scanning.tier1.rules import Rule, read_ruleset

RULES = [rule for rule in read_ruleset().pattern_rules if rule.pattern]
WORDS = ("alpha", "bravo", "charlie", "delta")
JOINTS = ("[^\\n]*", ".*", "\\S+", "\\s+", "", " ", "(?:[^x]*)?", "(?: \\S+)*?")


@pytest.mark.parametrize(
    ("source", "part"),
    [
        (r"(?i)\bcurl\b[^\n]*\bexfiltrate\b", r"(?i)\bexfiltrate\b"),
        (r"(?i)wallet.*seed|keylogger", "(?i)(?:wallet|keylogger)"),
        (r"the (?:alpha[^\n]*omegas|bravos) of", "(?:(?:omegas|bravos))"),
        (r"(?:alpha[^\n]*omegas|bravos\S+x)y", "(?:(?:omegas|bravos))"),
        (r"(?i:alpha)[^\n]*b", "(?i:alpha)"),
        (r"(?P<name>alpha.*b)c", "(?:alpha)"),
        (r"and .*\\nowhere", r"\\nowhere"),
    ],
)
def test_rarest_part_is_what_tells_most__of_each_alternative(source: str, part: str) -> None:
    assert rarest_part(source) == part


@pytest.mark.parametrize(
    "source", ["a.*b", r"alpha.*|b", r"\Qalpha\E.*bravo", "(?:alpha.*)?b", "alpha(?i)b.*c", "(alpha.*"]
)
def test_rarest_part_is_none__where_little_can_be_told_or_something_is_not_understood(source: str) -> None:
    assert rarest_part(source) is None


def sequences(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.tuples(inner, st.sampled_from(JOINTS)), min_size=1, max_size=3).map(
        lambda pairs: "".join(word + joint for word, joint in pairs)
    )


PATTERNS = st.recursive(
    st.sampled_from(WORDS),
    lambda inner: st.lists(sequences(inner), min_size=1, max_size=3).map(lambda some: f"(?:{'|'.join(some)})"),
    max_leaves=6,
).flatmap(lambda group: sequences(st.just(group)))
TEXTS = st.lists(st.sampled_from([*WORDS, " ", "\n", "x", ""]), max_size=9).map("".join)


@given(PATTERNS, TEXTS)
def test_rarest_part_is_in_every_text__that_the_pattern_matches(source: str, text: str) -> None:
    part = rarest_part(source)
    if part is not None and Pattern(source).is_in(text.encode()):
        assert Pattern(part).is_in(text.encode())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_rarest_part_is_in_every_example__of_every_rule(rule: Rule) -> None:
    whole = loosened(rule.pattern or "")
    part = rarest_part(whole)
    examples = [example.encode() for example in rule.matches if Pattern(whole).is_in(example.encode())]
    assert part is None or all(Pattern(part).is_in(example) for example in examples)
