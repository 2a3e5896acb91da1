"""The sketch of a pattern is in a text with one blank between words wherever the pattern is in the text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vskill_platform.scanning.tier1.matching import ids_in_order
from vskill_platform.scanning.tier1.one_blank import sketch, with_one_blank
from vskill_platform.scanning.tier1.patterns import Pattern, loosened
from vskill_platform.scanning.tier1.rarest_parts import rarest_part
from vskill_platform.scanning.tier1.rules import Rule, read_ruleset

RULES = [rule for rule in read_ruleset().pattern_rules if rule.pattern]


@pytest.mark.parametrize(
    ("source", "becomes"),
    [
        (r"(?i)\bdo\s+not\s+(?:\w+\s+)*?say\b", r"(?i)\bdo not (?:\w+ )*say\b"),
        (r"(?m)^\s*name\s*:[ \t]*$", r"(?m) name ?: "),
        (r"x\s*\n\s*y", "x y"),
        (r"a[^\n]*\s+b", "a(?s:.*) ?b"),
        (r"a(?:\S+\s+)*?b", "a(?s:.*)b"),
        (r"a[\s,]+\s+b[- ]?c[\n;]d", r"a[\s,]+ ?b[- ]?c[ \n;]d"),
        (r"(?:a |b)\s+c", "(?:a |b) ?c"),
        (r"(?:a |b)? c", "(?:a |b)? ?c"),
        (r"(?:\s*a)+", "(?: ?a)+"),
        (r"(?:a\s)+\sb", "(?:a )+ ?b"),
        (r"[^ ]x[^\s]y[^x]\s", r"(?s:.)x[^\s]y[^x] ?"),
        (r" \Bx", " x"),
        (r"\|\s*(?:ba)?sh\b", r"\| ?(?:ba)?sh\b"),
    ],
)
def test_sketch_has_one_blank_where_the_pattern_has_white_space(source: str, becomes: str) -> None:
    assert sketch(source) == becomes


@pytest.mark.parametrize(
    "source", [r"[[:space:]]x", r"\x20x", r"[\x00-\x7f]", r"[\t-\r]", "[]a]", r"[^\S]", "[-\t]", r"\Qx\E"]
)
def test_sketch_is_none__where_white_space_may_hide(source: str) -> None:
    assert sketch(source) is None


WORDS = ("alpha", "b", "-", ",", "é")
WHITE = (
    " ",
    r"\s",
    r"\s+",
    r"\s*",
    r"\n",
    r"[ \t]+",
    r"[\s,]",
    r"[^b]",
    ".",
    "[- ]",
    "^",
    "$",
    r"\b",
    r"\B",
    r"\W",
    r"\S+",
    r"[^\n]*",
    "",
)
PIECES = st.sampled_from([*WORDS, *WHITE])
PATTERNS = st.recursive(
    st.lists(PIECES, min_size=1, max_size=5).map("".join),
    lambda inner: st.tuples(st.lists(inner, min_size=1, max_size=2), st.sampled_from(["", "?", "*", "+"]), inner).map(
        lambda made: f"(?:{'|'.join(made[0])}){made[1]}{made[2]}"
    ),
    max_leaves=5,
).flatmap(lambda source: st.sampled_from([source, f"(?m){source}", f"(?is){source}"]))
TEXTS = st.lists(
    st.sampled_from(["alpha", "b", "-", ",", " ", "  ", "\n", "\t", "\r\n", "x", "é", ""]), max_size=9
).map("".join)


@given(PATTERNS, TEXTS)
@example(r"\s+(?:^|,)\s*alpha", "\n\n alpha")
@example(r"b$\n?", "b\n")
def test_sketch_is_in_every_text_with_one_blank__that_the_pattern_matches(source: str, text: str) -> None:
    made = sketch(source)
    data = text.encode()
    if made is not None and Pattern(source).is_in(data):
        assert Pattern(made).is_in(with_one_blank(data))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_sketch_is_in_every_example__of_every_rule(rule: Rule) -> None:
    whole = loosened(rule.pattern or "")
    sources = [whole, rarest_part(whole) or whole]
    examples = [example.encode() for example in rule.matches if Pattern(whole).is_in(example.encode())]
    for made in filter(None, map(sketch, sources)):
        assert all(Pattern(made).is_in(with_one_blank(data)) for data in examples)


def test_rules_that_are_looked_for_in_order_exist() -> None:
    assert ids_in_order() <= {rule.id for rule in RULES}
