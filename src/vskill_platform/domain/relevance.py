"""How well a document answers a search: made here once, so that every engine gives the same order.

docs/search.md says it for people; a change here belongs there too. Nothing in here knows an index.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from vskill_platform.domain.search_terms import (
    IN_TITLE_OR_PATH,
    QueryTerm,
    is_unspaced,
    last_part,
    query_terms,
    whole_of,
    words_of,
)
from vskill_platform.domain.skill import CertTier

TITLE_POINTS, PATH_POINTS, TEXT_POINTS = 8.0, 4.0, 1.0
EXACT, BEGINNING, MISSPELT = 1.0, 0.7, 0.5
COVERAGE_POINTS = 4.0
BEGINS_POINTS = 2.0
WEIGHT_UNIT = 1000
MOST_RANKED = 100
"""Of more documents than this, only those that stand first by where the words are, and by weight, are ranked by points."""
SHORT_BEGINNING = 3
"""A beginning of so few letters is looked for in titles and paths alone."""
SHORTEST_FORGIVEN = 5
"""A word of a document that has so many letters is found although one of them is wrong."""

_TIER_POINTS = {CertTier.SCANNED: 0.0, CertTier.VERIFIED: 1.0, CertTier.CERTIFIED: 2.0}
_MOST_INSTALL_POINTS = 3.0
_LATIN = "abcdefghijklmnopqrstuvwxyz0123456789"
_BLOCK = 128
_LAST_SPACED = "\u2e7f"
"""Text after this is, by and large, of a script that writes without spaces."""


class WantedWord(NamedTuple):
    """A term of a search, and the words that are taken for it where it seems to be misspelt."""

    term: QueryTerm
    near: frozenset[str] = frozenset()


class Wanted(NamedTuple):
    """What a search asks for. `whole` is the search as one term."""

    words: tuple[WantedWord, ...]
    whole: str

    def forgiving(self, known: Iterable[str]) -> Wanted:
        """The same with words that documents have in place of those that seem to be misspelt."""
        words = set(known)
        return Wanted(
            tuple(WantedWord(word.term, near_spellings(word.term.text) & words) for word in self.words), self.whole
        )


def read_search(search: str) -> Wanted:
    """What a search asks for."""
    return Wanted(tuple(WantedWord(term) for term in query_terms(search)), whole_of(search))


def accepted_terms(word: WantedWord, *, is_ranked: bool) -> tuple[QueryTerm, ...]:
    """The terms of which a document must have one to have the word."""
    text, is_prefix = word.term
    near = (QueryTerm(one, is_prefix=False) for one in sorted(word.near))
    if is_ranked and is_prefix and len(text) <= SHORT_BEGINNING and not is_unspaced(text):
        return (QueryTerm(text, is_prefix=False), QueryTerm(f"{IN_TITLE_OR_PATH}{text}", is_prefix=True), *near)
    return (word.term, *near)


def marked_terms(word: WantedWord, mark: str) -> tuple[QueryTerm, ...]:
    """The terms of which a document has one if it has the word where the mark says."""
    near = (QueryTerm(f"{mark}{one}", is_prefix=False) for one in sorted(word.near))
    return (QueryTerm(f"{mark}{word.term.text}", word.term.is_prefix), *near)


def spellings(wanted: Wanted) -> frozenset[str]:
    """Every word that may be meant by a word of a search."""
    return frozenset().union(*(near_spellings(word.term.text) for word in wanted.words))


def skill_weight(tier: CertTier, installs: int) -> int:
    """What a skill's tier and installs are worth in points, in thousandths of a point."""
    install_points = min(_MOST_INSTALL_POINTS, math.log10(1 + max(0, installs)) / 2)
    return round(WEIGHT_UNIT * (_TIER_POINTS[tier] + install_points))


def how_well(wanted: Wanted, *, title: str, path: str, weight: int) -> tuple[bool, float]:
    """The place of a document that has every word, the best lowest: first those whose title, path or last part of the path is the
    search, then by points."""
    names = _names(title, path)
    total = 0.0
    covered: set[str] = set()
    for word in wanted.words:
        found, how = _best(word, names.title)
        if found is not None:
            covered.add(found)
            total += TITLE_POINTS * how
            continue
        found, how = _best(word, names.path)
        total += TEXT_POINTS * (MISSPELT if word.near else EXACT) if found is None else PATH_POINTS * how
    total /= len(wanted.words)
    if covered:
        total += COVERAGE_POINTS * len(covered) / len(names.title)
    if names.wholes[0].startswith(wanted.whole):
        total += BEGINS_POINTS
    return wanted.whole not in names.wholes, -(total + weight / WEIGHT_UNIT)


def _best(word: WantedWord, words: tuple[str, ...]) -> tuple[str | None, float]:
    """The word that a wanted one is found in, and how well it fits; None where it is in none."""
    (text, is_prefix), near = word
    if text in words:
        return text, EXACT
    if is_prefix:
        for found in words:
            if found.startswith(text):
                return found, BEGINNING
    if text > _LAST_SPACED:  # a pair of characters is found anywhere in a run of them
        return next(((found, EXACT) for found in words if text in found), (None, 0.0))
    if near:
        for found in words:
            if found in near:
                return found, MISSPELT
    return None, 0.0


class _Names(NamedTuple):
    """The words of a title and of a path, and the wholes of the title, the path and its last part."""

    title: tuple[str, ...]
    path: tuple[str, ...]
    wholes: tuple[str, str, str]


@lru_cache(maxsize=65536)
def _names(title: str, path: str) -> _Names:
    return _Names(words_of(title), words_of(path), (whole_of(title), whole_of(path), whole_of(last_part(path))))


@lru_cache(maxsize=1024)
def near_spellings(word: str) -> frozenset[str]:
    """Every word of five letters or more that one letter too many, too few, wrong or swapped makes of this one."""
    if is_unspaced(word) or len(word) < SHORTEST_FORGIVEN - 1:
        return frozenset()
    letters = _alphabet(word)
    splits = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    made = {
        *(left + right[1:] for left, right in splits if right),
        *(left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1),
        *(left + letter + right[1:] for left, right in splits if right for letter in letters),
        *(left + letter + right for left, right in splits for letter in letters),
    }
    return frozenset(one for one in made if len(one) >= SHORTEST_FORGIVEN) - {word}


def _alphabet(word: str) -> frozenset[str]:
    """The letters that a slip may have put or left out: Latin ones and digits, and those of the word's own script."""
    blocks = {ord(char) // _BLOCK for char in word if not char.isascii()}
    own = (chr(point) for block in blocks for point in range(block * _BLOCK, (block + 1) * _BLOCK))
    return frozenset(_LATIN) | frozenset(char for char in own if char.isalnum())


def can_be_misspelt(term: str) -> bool:
    """Whether a term of a document is a word that a misspelt one may stand for."""
    return len(term) >= SHORTEST_FORGIVEN and ":" not in term and not is_unspaced(term)
