"""Concepts: what a sentence can speak of, each with its words in many languages (`concepts.toml`).

Rules name concepts and not words, so a new wording or a language is a line in one file and reaches every rule. Words of
English and of scripts that are not Latin are looked for everywhere. Stems of other Latin-script languages look like English
words, so they count only in sentences that show by their small words that they are in that language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from heapq import merge
from itertools import chain, islice
from pathlib import Path

import tomli

from vskill_platform.domain.errors import InvalidRules
from vskill_platform.scanning.tier1.letters import beyond_ascii
from vskill_platform.scanning.tier1.patterns import Pattern, PatternSet, Span, compile_pattern

CONCEPTS_FILE = Path(__file__).with_name("concepts.toml")
CONCEPT_MEMORY = 16 * 1024 * 1024
"""Bytes that a concept may use: with less, one of many words is matched ten times slower."""
COMMON = frozenset(
    [
        "negation",
        "promote",
        "fetch",
        "run",
        "instructions",
        "send",
        "write",
        "leak",
        "switch-off",
        "conversation",
        "program",
        "outside",
        "obey",
        "always",
        "address",
        "drop",
        "unattended",
        "authenticates",
        "secret",
        "safeguard",
        "asked",
        "destroy",
        "personal",
        "spend",
        "alter",
    ]
)
"""Concepts that every tenth text speaks of."""
WIDE = ("outside", "send", "switch-off", "unattended")
"""Common concepts with phrases that are often under way: one in each pass."""
ALONE = ("falsify", "conceal")
"""Rare concepts with such phrases."""
RARE_TOGETHER = 6
"""Concepts that are looked for in one pass. Phrases with any words in their middle are under way at the same time, and the
engine has to learn each combination of them that texts have: all concepts in one pass fill any memory, and so do two of the
wrong ones. `make bench ONLY=concept_passes` tells what each pass has to learn."""
ENGLISH = "en"
OTHER_SCRIPTS = ""
"""Stands for all languages that are not written in Latin letters: their words cannot be taken for those of another."""
LATIN = ("es", "pt", "fr", "de", "it", "tr", "id", "vi", "pl")
_MARKERS = "markers"
_OTHER_LETTERS = re.compile("[\u0370-\u1fff\u2e80-\ud7ff\uf900-\ufaff]")


class Concept:
    """One concept in some languages: its patterns, few of which apply to any one text."""

    __slots__ = ("_patterns",)

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._patterns = tuple(patterns)

    def spans(self, data: bytes) -> Iterator[Span]:
        """Where it occurs, from left to right."""
        return merge(*(pattern.spans(data) for pattern in self._patterns))

    def is_in(self, data: bytes, within: Span | None = None) -> bool:
        """Whether it occurs, in the whole text or in a stretch of it."""
        start, end = within or (0, len(data))
        return any(pattern.is_in(data, start=start, end=end) for pattern in self._patterns)


@cache
def concept(name: str, languages: tuple[str, ...] = (ENGLISH, OTHER_SCRIPTS)) -> Concept:
    """A concept in these languages. Raises InvalidRules for a name that there is not."""
    return Concept(pattern for language in languages if (pattern := _pattern(name, language)))


@cache
def english_passes() -> tuple[tuple[str, ...], ...]:
    """All concepts in English, in the passes that google-re2 looks for them in."""
    names = [name for name in _given() if name != _MARKERS]
    common = (*WIDE, *(name for name in names if name in COMMON.difference(WIDE)))
    rare = [name for name in names if name not in COMMON.union(ALONE)]
    return (
        *(common[first :: len(WIDE)] for first in range(len(WIDE))),
        *((name,) for name in ALONE),
        *(tuple(rare[first : first + RARE_TOGETHER]) for first in range(0, len(rare), RARE_TOGETHER)),
    )


def together(passes: Sequence[Sequence[str]]) -> PatternSet:
    """Concepts in English, to be looked for in these passes, in texts with one blank between words."""
    sources = [f"(?is){_of_english(_given()[name][ENGLISH])}" for name in chain(*passes)]
    return PatternSet(sources, has_gaps=False, groups=list(map(len, passes)))


@cache
def all_english() -> PatternSet:
    """All concepts in English."""
    return together(english_passes())


def english_in_each(texts: Sequence[bytes]) -> list[frozenset[str]]:
    """The concepts that may occur in each text in English words, never leaving out one that does.

    Phrases with one blank between their words are plain strings to an engine, and found in half the time.
    """
    names = _english_names()
    found = all_english().which_of_each([b" ".join(text.split()) for text in texts])
    return [frozenset([names[number] for number in numbers]) for numbers in found]


@cache
def _english_names() -> tuple[str, ...]:
    return tuple(chain(*english_passes()))


def has_other_scripts(data: bytes) -> bool:
    """Whether a text has letters that are not Latin."""
    return _OTHER_LETTERS.search(beyond_ascii(data)) is not None


@cache
def markers(language: str) -> Pattern:
    """The small words by which a sentence shows its language."""
    return compile_pattern(_markers(language))


@cache
def all_markers() -> PatternSet:
    """What may be the small words of a language, for a look at all languages in a text with blanks around it."""
    words = [_given()[_MARKERS][language] for language in LATIN]
    return PatternSet([rf"(?i)[^A-Za-z](?:{'|'.join(some)})[^A-Za-z]" for some in words], has_gaps=False)


def languages_in(data: bytes) -> list[str]:
    """The languages in Latin letters that a text has small words of, two at least; English is not among them."""
    possible = [LATIN[number] for number in all_markers().which(b" %b " % data)]
    return [language for language in possible if len(list(islice(markers(language).spans(data), 2))) == 2]


@cache
def _pattern(name: str, language: str) -> Pattern | None:
    """The words of a concept in a language, as one pattern. Between the words of a phrase a line may end."""
    words = _given().get(name)
    if words is None or name == _MARKERS:
        raise InvalidRules(f"There is no concept {name}. meaning/concepts.toml has those that there are.")
    source = _source(words, language)
    return Pattern(_spaced(source), memory=CONCEPT_MEMORY) if source else None


def _markers(language: str) -> str:
    return rf"(?i)(?:^|[^\pL])(?:{'|'.join(_given()[_MARKERS][language])})(?:[^\pL]|$)"


def _spaced(source: str) -> str:
    """A source as a pattern: for a blank any white space will do, and none where it is one that may be missing."""
    return "(?is)" + source.replace(" ?", r"\s*").replace(" ", r"\s+")


@cache
def _given() -> dict[str, dict[str, list[str]]]:
    return tomli.loads(CONCEPTS_FILE.read_text(encoding="utf-8"))


def _source(words: dict[str, list[str]], language: str) -> str:
    if language == ENGLISH:
        return _of_english(words[ENGLISH])
    if language == OTHER_SCRIPTS:
        return "|".join(word for key in words if key not in {ENGLISH, *LATIN} for word in words[key])
    return rf"\b(?:{'|'.join(words[language])})" if language in words else ""


def _of_english(words: list[str]) -> str:
    """The words between word boundaries, where they begin with a letter; as they are, where they are more than words."""
    whole = [word for word in words if word[0].isalnum() or word[0] == "("]
    other = [f"(?:{word})" for word in words if word not in whole]
    return "|".join([rf"\b(?:{'|'.join(whole)})\b", *other] if whole else other)
