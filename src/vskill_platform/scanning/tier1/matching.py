"""Finds the places where pattern rules hit a view.

A few passes over the text tell which rules may hit at all; only those look for their places. Whatever the text is made of,
both take linear time, and how many places are looked at is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

from vskill_platform.scanning.limits import MATCH_LIMIT, ScanLimits
from vskill_platform.scanning.tier1.exceptions import split_exceptions
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import FileKind
from vskill_platform.scanning.tier1.patterns import PatternSet, Span, compile_pattern
from vskill_platform.scanning.tier1.rules import Rule, Ruleset
from vskill_platform.scanning.tier1.skill import Analyser, Hit, LimitHit, Observation, Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.views.view import PLAIN, Uncoverer, View

IN_ORDER_FILE = Path(__file__).with_name("parts_in_order.txt")
LINE_REACH = 500
"""Bytes to each side of a match that count as its line. Without it a file in one long line could excuse itself."""


class PatternRule:
    """A rule that looks for its places. Its pattern is compiled when it is first needed: most rules never hit."""

    __slots__ = ("_exceptions", "rule", "source")

    def __init__(self, rule: Rule, *, pattern: str) -> None:
        self.rule = rule
        self.source = pattern
        self._exceptions = None if rule.unless is None else split_exceptions(rule.unless)

    def spans(self, view: View) -> Iterator[Span | None]:
        """Every match in turn that is news; None stands for one that the rule's exception covers."""
        for span in compile_pattern(self.source).spans(view.data):
            visible = _without_leading_space(view.data, span)
            if self._is_news(view, visible):
                yield None if self._is_excepted(view, visible) else visible

    def _is_news(self, view: View, span: Span) -> bool:
        """Whether the view shows what the file does not; a rule about disguises asks for a disguise."""
        layer = view.layer_of(span)
        if layer is None or self.rule.applies_to != {FileKind.UNCOVERED}:
            return layer is not None
        return layer != PLAIN and not (view.is_prose and _is_explained(view.data, span))

    def _is_excepted(self, view: View, span: Span) -> bool:
        if self._exceptions is None:
            return False
        start, end = line_around(view.data, span)
        matched, line = view.data[span.start : span.end], view.data[start:end]
        return self._exceptions.cover(matched, line, is_prose=view.is_prose)


class Matcher:
    """The pattern rules of a ruleset, ready to look. Those that are off are among its patterns, but apply to nothing."""

    def __init__(self, ruleset: Ruleset) -> None:
        known = sorted((*ruleset.rules.values(), *ruleset.off.values()), key=lambda rule: (rule.origin != "", rule.id))
        self._rules = [PatternRule(rule, pattern=rule.pattern) for rule in known if rule.pattern]
        self._off = ruleset.off.keys()
        bundled = sum(not looking.rule.origin for looking in self._rules)
        in_order = {number for number, looking in enumerate(self._rules) if looking.rule.id in ids_in_order()}
        self._together = PatternSet([looking.source for looking in self._rules], own_from=bundled, in_order=in_order)
        self._applying: dict[frozenset[FileKind], frozenset[int]] = {}

    def observe(self, view: View, *, limits: ScanLimits) -> Iterator[Observation]:
        """Where the rules that apply to the view hit it, rule by rule, from left to right."""
        return next(self.observe_each([view], limits=limits))

    def observe_each(self, views: Sequence[View], *, limits: ScanLimits) -> Iterator[Iterator[Observation]]:
        """The same for each view."""
        among = [self._applying_to(view.kinds) for view in views]
        may_hit = self._together.which_of_each([view.data for view in views], among)
        for view, numbers in zip(views, may_hit, strict=True):
            yield self._hits(numbers, view, limits)

    def _hits(self, numbers: Sequence[int], view: View, limits: ScanLimits) -> Iterator[Observation]:
        for number in numbers:
            yield from _places(self._rules[number], view, limits)

    def _applying_to(self, kinds: frozenset[FileKind]) -> frozenset[int]:
        """The numbers of the rules that look at texts of these kinds."""
        if kinds not in self._applying:
            self._applying[kinds] = frozenset(
                number
                for number, looking in enumerate(self._rules)
                if looking.rule.applies_to & kinds and looking.rule.id not in self._off
            )
        return self._applying[kinds]


def pattern_analyser(make_views: Uncoverer) -> Analyser:
    """The analyser that matches all pattern rules against these views, and passes on what was seen while making them."""

    def observe_views(skill: SkillUnderScan) -> Iterator[Observation]:
        matcher = matcher_for(skill.ruleset)
        rules = skill.ruleset.rules_by_check
        all_made = list(make_views(skill))
        views = [made for made in all_made if isinstance(made, View)]
        observed = matcher.observe_each(views, limits=skill.limits)
        for made in all_made:
            if isinstance(made, View):
                yield from next(observed)
            elif isinstance(made, Sighting):
                yield from (Hit(rule, *made[1:]) for rule in rules.get(made.check, ()))
            else:
                yield made

    return observe_views


@cache
def ids_in_order() -> frozenset[str]:
    """The rules whose rarest part is in many texts, so that all of their parts are looked for (`tools/parts_in_order.py`)."""
    return frozenset(IN_ORDER_FILE.read_text(encoding="utf-8").split())


@lru_cache(maxsize=4)
def matcher_for(ruleset: Ruleset) -> Matcher:
    """The ruleset's matcher; compiled once."""
    return Matcher(ruleset)


def line_around(data: bytes, span: Span) -> Span:
    """The line that a match begins in, as far as it is near the match."""
    earliest = max(0, span.start - LINE_REACH)
    start = data.rfind(b"\n", earliest, span.start) + 1 or earliest
    latest = min(len(data), max(span.end, span.start) + LINE_REACH)
    end = data.find(b"\n", span.start, latest)
    return Span(start, latest if end < 0 else end)


def _is_explained(data: bytes, span: Span) -> bool:
    """Whether the line also says in plain letters what was matched, as a lesson about disguises does."""
    start, end = line_around(data, span)
    said = data[span.start : span.end].lower()
    return data[start:end].lower().count(said) > 1


def _without_leading_space(data: bytes, span: Span) -> Span:
    """The match from its first visible character on: a place is where there is something to see."""
    matched = data[span.start : span.end]
    visible = matched.lstrip()
    return Span(span.end - len(visible), span.end) if visible else span


def _places(looking: PatternRule, view: View, limits: ScanLimits) -> Iterator[Observation]:
    """Every place that no exception covers: whether the text states it there or quotes it is weighed later, place by place."""
    for looked_at, span in enumerate(looking.spans(view), start=1):
        if span is not None:
            yield hit_at(looking.rule, view, span)
        if looked_at >= limits.max_matches:
            yield LimitHit(MATCH_LIMIT)
            return


def hit_at(rule: Rule, view: View, span: Span) -> Hit:
    """The rule's hit at a place of a view, with the line around it."""
    start, end = line_around(view.data, span)
    before = view.data[start : span.start].decode(errors="ignore")
    line = before + view.data[span.start : end].decode(errors="ignore")
    place = view.locate(span.start)
    layer = view.layer_of(span) or PLAIN
    return Hit(rule.id, view.file, place.line, place.column, make_excerpt(line, start=len(before)), layer)
