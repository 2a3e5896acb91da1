"""Rules over what sentences say: concepts that come together, whatever the words and the language.

A sentence counts where all concepts of a rule stand in it, near each other, and what is done is not negated: "never send
keys to a server" says the same words as its opposite. The last concept of a rule is its rarest; a text is searched for that
one, and only what surrounds it for the others. How much is looked at for a text grows with the text and not faster.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from heapq import merge
from itertools import islice, pairwise

from vskill_platform.scanning.tier1.matching import hit_at
from vskill_platform.scanning.tier1.meaning.concepts import (
    ENGLISH,
    OTHER_SCRIPTS,
    Concept,
    concept,
    english_in_each,
    has_other_scripts,
    languages_in,
    markers,
)
from vskill_platform.scanning.tier1.meaning.fitting import fits
from vskill_platform.scanning.tier1.meaning.honest_words import is_honest
from vskill_platform.scanning.tier1.meaning.meant import MAY_BE_HONEST, is_harmless, is_meant, is_told_of
from vskill_platform.scanning.tier1.meaning.words import IN_ADDRESSES, without_addresses, without_own_addresses
from vskill_platform.scanning.tier1.patterns import Span
from vskill_platform.scanning.tier1.rules import Rule, Ruleset
from vskill_platform.scanning.tier1.skill import Analyser, Hit, Observation, SkillUnderScan
from vskill_platform.scanning.tier1.views.view import View, ViewMaker

REACH = 350
"""Bytes to each side of its rarest concept within which the others must stand, in a sentence that goes on for longer."""
STEP = 175
"""Bytes that are passed over once nothing was found around a place: what lies there has been looked at."""
NEGATION_REACH = 90
MOST_ACTIONS = 16
"""How many places of something done are looked at in one stretch of text, in search of one that is not negated."""
_NO_LETTER = rb"(?=[\s\"'`)\]*_]|\Z)"
_BOUNDARY = re.compile(
    rb"\.%(next)s|!%(next)s|\?%(next)s"
    rb"|\n(?=[ \t]*(?:\n|[-*+>|#]|\xe2(?:[\x86\x94-\x9e]|\x80\xa2)|\[?\d{1,3}[.)/]|[a-z-]{1,30}:[ \t]))"
    rb"|\xe3\x80\x82|\xef\xbc[\x81\x9f]|\xe0\xa5\xa4|\xd8\x9f" % {b"next": _NO_LETTER}
)
"""Where a sentence ends. Each way begins with one character, for `re` to pass over all others quickly. A line that begins with
an arrow, a tick or another sign (in UTF-8) is an item of its own."""
_NEWLINE = ord("\n")
LONGEST_NAME = 32
"""Bytes of a cell that may name what its row of a table is about."""
_NEW_CLAUSE = re.compile(rb"[;:\n(]| but | and then | instead,")
_NO_NEGATION = re.compile(
    rb"(?i)(?:do not|don't|never|not|no) (?:\w+ )?(?:forget|fail|omit|skip|hesitate|neglect|miss|only|just|matter|later|"
    rb"longer|need)|without (?:fail|exception|delay)"
)
_PLAIN_NEGATION = re.compile(
    rb"(?i)\b(?:never|do not|don't|must not|should not|cannot|can't|avoid|not|no|nor|neither|without|instead of|rather than)\b"
)
_ENDED = re.compile(rb"(?i), |\b(?:asked|delay|question|questions|matter) |^ (?:\w+ ){1,3}(?:lost|missed|forgotten) ")
"""What ends a negated clause."""
_GOES_ON = re.compile(
    rb"(?i)(?:, (?:under|in|at|not|ever|for)\b[^,]{0,40},|[^,]{0,20}(?:, [^,]{1,16}){0,4},? (?:or|and|nor)) [\w ]{0,16}$"
)
"""A list of verbs or an insertion, through which a negation goes on."""
_NEGATED_BEHIND = re.compile("ないで|しない|禁止|してはいけ|ません|하지 마|하지 않|않도록|금지|마세요|말아".encode())
"""Negations that follow what they negate, as in Japanese and Korean."""


class Places:
    """Where a concept occurs in a text."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, found: Iterable[Span]) -> None:
        self._starts, self._ends = array("Q"), array("Q")
        for span in found:
            self._starts.append(span.start)
            self._ends.append(span.end)

    def spans(self) -> Iterator[Span]:
        """All places, from left to right."""
        return map(Span, self._starts, self._ends)

    def within(self, stretch: Span) -> Iterator[Span]:
        """Those that begin in a stretch of the text."""
        first, last = bisect_left(self._starts, stretch.start), bisect_left(self._starts, stretch.end)
        return map(Span, self._starts[first:last], self._ends[first:last])

    def first_from(self, offset: int, end: int) -> int:
        """Where the next one begins, or the end of the text."""
        at = bisect_left(self._starts, offset)
        return self._starts[at] if at < len(self._starts) else end

    def has_any(self, within: Span) -> bool:
        """Whether one begins in a stretch of the text."""
        at = bisect_left(self._starts, within.start)
        return at < len(self._starts) and self._starts[at] < within.end


class Text:
    """A text in sentences, read as English and, where `language` names one, as another language in Latin letters.

    Where a concept occurs is looked up once and kept.
    """

    def __init__(self, data: bytes, *, in_english: frozenset[str], language: str = "") -> None:
        self.data = data
        self.in_english = in_english
        """The concepts that may occur in English words; few do in any one text."""
        self.language = language
        self._languages = tuple(filter(None, [ENGLISH, language])) + (
            (OTHER_SCRIPTS,) if has_other_scripts(data) else ()
        )
        self._places: dict[str, Places] = {}

    @cached_property
    def words(self) -> bytes:
        """The text without its addresses; everything else is where it was."""
        return without_addresses(self.data)

    @cached_property
    def _addressed(self) -> bytes:
        return without_own_addresses(self.data)

    def places(self, either: Iterable[str]) -> Iterator[Span]:
        """Where one of the concepts occurs, from left to right."""
        return merge(*[self._found(name).spans() for name in self.sayable(either)])

    def says(self, either: str, within: Span) -> bool:
        """Whether one of the concepts of `a|b` occurs in a stretch of the text."""
        return any(self._says(name, within) for name in _alternatives(either))

    def says_done(self, name: str, within: Span, *, nearby: bool = False) -> bool:
        """Whether a stretch of the text speaks of something done, and does not negate it, or anything `nearby`."""
        found = self._concept(name).spans(self._read_for(name)[within.start : within.end])
        spans = (Span(within.start + span.start, within.start + span.end) for span in islice(found, MOST_ACTIONS))
        return any(not (self._is_negated(span, within, nearby=nearby) or is_told_of(self.data, span)) for span in spans)

    def says_twice(self, name: str, within: Span) -> bool:
        """Whether a stretch of the text comes back to a concept."""
        found = self._concept(name).spans(self._read_for(name)[within.start : within.end])
        return len(list(islice(found, 2))) == 2

    def places_within(self, name: str, within: Span) -> Iterator[Span]:
        """Where a concept begins in a stretch of the text."""
        return self._found(name).within(within)

    def is_readable(self, within: Span) -> bool:
        """Whether a stretch of the text is in the language that the text is read in."""
        return not self.language or self._is_in_language(within)

    def sentence(self, offset: int, *, sentences: int = 1) -> Span:
        """The sentence at an offset, and those beside it where more than one is asked for, as far as they are near."""
        ends, at = self._ends, bisect_right(self._ends, offset)
        start = ends[at - sentences] if at >= sentences else 0
        end = ends[at + sentences - 1] if at + sentences <= len(ends) else len(self.data)
        last = min(len(self.data), offset + REACH)
        if end < last and self.data[end - 1] == _NEWLINE and not _BOUNDARY.match(self.data, end - 1, last):
            end = last  # what makes an end of this line is not near any more
        return Span(max(start, offset - REACH), min(end, last))

    def sentences(self) -> Iterator[tuple[int, int]]:
        """Where all sentences begin and end, in their order."""
        return pairwise((0, *self._ends, len(self.data)))

    @cached_property
    def _ends(self) -> array[int]:
        """Where the sentences end."""
        return array("Q", [found.end() for found in _BOUNDARY.finditer(self.data)])

    def may_say(self, name: str) -> bool:
        """Whether a concept can occur at all."""
        return name in self.in_english or len(self._languages) > 1

    def sayable(self, names: Iterable[str]) -> list[str]:
        """Those concepts that can occur at all, in their order."""
        return list(filter(self.may_say, names))

    def rules_to_try(self, ruleset: Ruleset) -> Iterator[Rule]:
        """The rules whose concepts can all occur, in their order; the rarest is asked for first."""
        rules = ruleset.statement_rules
        if len(self._languages) > 1:
            return iter(rules)
        known = _rules_by_rarest(ruleset)
        numbers = {number for name in self.in_english.intersection(known) for number in known[name]}
        return (rules[at] for at in sorted(numbers) if all(map(self._may_say_one_of, rules[at].says)))

    def statements(self, rule: Rule) -> Iterator[Span]:
        """Where the rule's concepts come together: the place of what is done, once a sentence."""
        rarest = list(map(self._found, self.sayable(_alternatives(rule.says[-1]))))
        end = len(self.data)
        at = min([places.first_from(0, end) for places in rarest], default=end)
        while at < end:
            around = self.sentence(at, sentences=rule.within)
            action = self._action(rule, around) if self._says_all(rule, around) else None
            if action is not None:
                yield action
            seen = max(at + 1, around.end if action is not None else min(around.end, at + STEP))
            at = min([places.first_from(seen, end) for places in rarest])

    def _may_say_one_of(self, either: str) -> bool:
        return any(map(self.may_say, _alternatives(either)))

    def _found(self, name: str) -> Places:
        if name not in self._places:
            found = self._concept(name).spans(self._read_for(name))
            self._places[name] = Places(span for span in found if is_meant(name, self.data, span))
        return self._places[name]

    def _concept(self, name: str) -> Concept:
        return concept(name, self._languages if name in self.in_english else self._languages[1:])

    def _says(self, name: str, within: Span) -> bool:
        if not self.may_say(name):
            return False
        if name in self._places or name in MAY_BE_HONEST:
            return self._found(name).has_any(within)
        return self._concept(name).is_in(self._read_for(name), within)

    def _read_for(self, name: str) -> bytes:
        """The text in which a concept is looked for: most are words, and the path of an address is none."""
        return self._addressed if name in IN_ADDRESSES else self.words

    def _says_all(self, rule: Rule, around: Span) -> bool:
        if not all(self.says(either, around) for either in rule.says[:-1]):
            return False
        if not self.is_readable(around):
            return False
        return not any(self.says(name, around) for name in rule.unless_says)

    def _is_in_language(self, around: Span) -> bool:
        found = markers(self.language).spans(self.data[around.start : around.end])
        return len(list(islice(found, 2))) == 2

    def _action(self, rule: Rule, around: Span) -> Span | None:
        """The first place of what is done that is not negated; one that names a row comes last."""
        here = self.words[around.start : around.end]
        found_here = merge(*(self._meant_in(name, here) for name in _alternatives(rule.says[0])))
        name_of_row = None
        for found in islice(found_here, MOST_ACTIONS):
            span = Span(around.start + found.start, around.start + found.end)
            if is_harmless(self.data, span, around) or not fits(self, rule, span, around):
                continue
            if not self._is_negated(span, around):
                if not _is_short_cell(here, found):
                    return span
                name_of_row = name_of_row or span
        return name_of_row

    def _meant_in(self, name: str, words: bytes) -> Iterator[Span]:
        return (span for span in self._concept(name).spans(words) if not is_honest(name, words, span))

    def _is_negated(self, action: Span, around: Span, *, nearby: bool = False) -> bool:
        before = self.data[max(around.start, action.start - NEGATION_REACH) : action.start]
        clause = before[max((found.end() for found in _NEW_CLAUSE.finditer(before)), default=0) :]
        own = clause if nearby else _without_other_negations(clause)
        if self._concept("negation").is_in(own) and not _NO_NEGATION.search(clause):
            return not (self._concept("conceal").is_in(clause) or self._concept("unattended").is_in(clause))
        return _NEGATED_BEHIND.search(self.data[action.end : around.end][:60]) is not None


def _is_short_cell(here: bytes, found: Span) -> bool:
    """Whether a place is in a short cell of a table, such as the name of a row."""
    start, end = here.rfind(b"|", 0, found.start), here.find(b"|", found.end)
    return start >= 0 and 0 < end - start <= LONGEST_NAME


def _without_other_negations(clause: bytes) -> bytes:
    """A clause from where its last negation has ended, if that is before what is done: "so that nothing is lost, send"."""
    found = [*_PLAIN_NEGATION.finditer(clause)]
    end = found[-1].end() if found else 0
    return clause[end:] if _ENDED.search(clause, end) and not _GOES_ON.match(clause, end) else clause


@cache
def _alternatives(either: str) -> tuple[str, ...]:
    """The concepts of `a|b`."""
    return tuple(either.split("|"))


@lru_cache(maxsize=4)
def _rules_by_rarest(ruleset: Ruleset) -> dict[str, list[int]]:
    """By each concept the numbers of the rules whose rarest it is, or one of the rarest."""
    found: dict[str, list[int]] = {}
    for number, rule in enumerate(ruleset.statement_rules):
        for name in _alternatives(rule.says[-1]):
            found.setdefault(name, []).append(number)
    return found


def statement_analyser(make_views: ViewMaker) -> Analyser:
    """The analyser that reads these views for what their sentences say."""

    def observe_statements(skill: SkillUnderScan) -> Iterator[Observation]:
        for view, text in texts_of(list(make_views(skill))):
            yield from statements_in(text, view, skill)

    return observe_statements


def statements_in(text: Text, view: View, skill: SkillUnderScan) -> Iterator[Hit]:
    """Where the rules that apply to a view hit what its sentences say."""
    for rule in text.rules_to_try(skill.ruleset):
        if not rule.applies_to.isdisjoint(view.kinds):
            found = islice(text.statements(rule), skill.limits.max_matches)
            yield from (hit_at(rule, view, span) for span in found)


def texts_of(views: Sequence[View]) -> Iterator[tuple[View, Text]]:
    """Each view as it stands, and once more for each other language in Latin letters that it has sentences in."""
    english = english_in_each([view.data for view in views])
    for view, in_english in zip(views, english, strict=True):
        for language in ("", *languages_in(view.data)):
            yield view, Text(view.data, in_english=in_english, language=language)
