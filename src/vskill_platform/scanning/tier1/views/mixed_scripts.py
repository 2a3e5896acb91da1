"""Words that mix Latin letters with look-alikes of another script, and words of look-alikes in Latin lines.

Mixing has honest uses, which stay out: Greek letters as symbols of mathematics and units, and Latin names with an ending in
the language around them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import islice

from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.letters import NEAR, is_of_text
from vskill_platform.scanning.tier1.patterns import Pattern, Span
from vskill_platform.scanning.tier1.skill import FileUnderScan, Sighting
from vskill_platform.scanning.tier1.views.collage import MOST_CHANGES, Change, Piece
from vskill_platform.scanning.tier1.views.confusables import LATIN, LETTERS, normalise
from vskill_platform.scanning.tier1.views.view import NORMALISED, once_a_file, places_in

LINE_REACH = 300
"""Bytes to each side of a word that tell which script its line is in."""
LONGEST_ENDING = 3
SHORTEST_REST = 5
"""Latin letters beside a single Greek one from which on a word is no symbol with an index."""
MOST_SIGHTINGS = 21
_IGNORED = r"\x{ad}\x{200b}-\x{200f}\x{2060}-\x{2064}\x{feff}\x{300}-\x{36f}"
_WORD = rf"A-Za-z0-9_{LETTERS}{''.join(LATIN.values())}{_IGNORED}"
_MIXED = Pattern(rf"[{_WORD}]*(?:[A-Za-z][{_IGNORED}]*[{LETTERS}]|[{LETTERS}][{_IGNORED}]*[A-Za-z])[{_WORD}]*")
_ALIKE = Pattern(rf"(?:^|[^\pL\pM])[{LETTERS}](?:[{_IGNORED}]*[{LETTERS}])+")
_LETTERS = frozenset(LETTERS)
_ALPHABETS = ((0x370, 0x52F), (0x531, 0x587), (0x13A0, 0x13FF), (0x2C80, 0x2CF3), (0xA4D0, 0xA4F7), (0xAB70, 0xABBF))
_FOREIGN = [chr(code) for first, last in _ALPHABETS for code in range(first, last + 1)]
_UNLIKE = Pattern(f"[{''.join(letter for letter in _FOREIGN if letter not in LETTERS)}]")
"""Letters of the scripts that lend themselves to disguise which look like no Latin ones."""


class _Word:
    """A word in a text, and what stands around it."""

    def __init__(self, data: bytes, span: Span) -> None:
        self.span = span
        self.text = data[span.start : span.end].decode(errors="ignore")
        self.letters = [letter for letter in self.text if letter.isalpha()]
        self._data = data

    @property
    def is_whole(self) -> bool:
        """Whether no letter stands directly before or behind it: then every letter of the word is a look-alike or Latin."""
        before = self._data[max(0, self.span.start - 4) : self.span.start].decode(errors="ignore")[-1:]
        behind = self._data[self.span.end : self.span.end + 4].decode(errors="ignore")[:1]
        return not (before.isalpha() or behind.isalpha())

    @property
    def surroundings(self) -> tuple[str, int, int]:
        """What stands around it, and where it is in that."""
        before = self._data[max(0, self.span.start - 4 * NEAR) : self.span.start].decode(errors="ignore")
        behind = self._data[self.span.end : self.span.end + 4 * NEAR].decode(errors="ignore")
        return before + self.text + behind, len(before), len(before) + len(self.text)

    @property
    def line_is_foreign(self) -> bool:
        """Whether its line has letters of another script that nobody could take for Latin ones."""
        start, end = self.span
        begin = self._data.rfind(b"\n", max(0, start - LINE_REACH), start) + 1 or max(0, start - LINE_REACH)
        stop = self._data.find(b"\n", end, end + LINE_REACH)
        line = self._data[begin:start] + b" " + self._data[end : end + LINE_REACH if stop < 0 else stop]
        return _UNLIKE.is_in(line)

    @property
    def is_symbol(self) -> bool:
        """Whether it may be a Greek letter of mathematics with something Latin beside it."""
        foreign = [letter for letter in self.letters if letter in _LETTERS]
        if not all(unicodedata.name(letter, "").startswith("GREEK SMALL") for letter in foreign):
            return False
        at_an_end = self.letters[0] in _LETTERS or self.letters[-1] in _LETTERS
        return len(foreign) == 1 and at_an_end and len(self.letters) - 1 < SHORTEST_REST

    @property
    def is_inflected(self) -> bool:
        """Whether it is a Latin name with a short ending."""
        stem = len(self.letters) - LONGEST_ENDING
        latin = [letter.isascii() for letter in self.letters]
        return latin[0] and latin.index(False) >= max(2, stem) and not any(latin[latin.index(False) :])


@once_a_file
def foreign_characters(file: FileUnderScan) -> frozenset[str]:
    """Every character of the file beyond ASCII, once."""
    return frozenset(file.beyond_ascii)


def disguised_words(file: FileUnderScan) -> Iterator[Piece]:
    """The words to be folded: those of two scripts, and then those of look-alikes alone."""
    for word in _disguised(file):
        yield Piece(normalise(word.text).encode(), word.span.start, word.span.end, Change.TRICK)


def sightings_of(file: FileUnderScan) -> Iterator[Sighting]:
    """Words that mix scripts without an honest reason."""
    place = places_in(file)
    for word in islice(_suspicious(file), MOST_SIGHTINGS):
        line, column = place(word.span.start)
        yield Sighting("mixed_script_word", file.path, line, column, make_excerpt(_shown(word)), NORMALISED)


def _shown(word: _Word) -> str:
    """The word, what it looks like, and the letters that are not what they seem: all three look the same on a screen."""
    foreign = sorted({f"U+{ord(letter):04X}" for letter in word.letters if not letter.isascii()})
    return f"{word.text} ({', '.join(foreign)})"


def _suspicious(file: FileUnderScan) -> Iterator[_Word]:
    for word in _mixed(file):
        if len(word.letters) > 2 and not word.is_symbol and not (word.is_inflected and word.line_is_foreign):
            yield word


@once_a_file
def _mixed(file: FileUnderScan) -> list[_Word]:
    if _LETTERS.isdisjoint(foreign_characters(file)):
        return []
    words = (_Word(file.encoded, span) for span in _MIXED.spans(file.encoded))
    likely = words if file.has_places else filter(_is_in_text, words)
    return [word for word in islice(likely, MOST_CHANGES) if word.is_whole]


def _is_in_text(word: _Word) -> bool:
    return is_of_text(*word.surroundings)


def _disguised(file: FileUnderScan) -> Iterator[_Word]:
    yield from _mixed(file)
    if _LETTERS.isdisjoint(foreign_characters(file)):
        return
    for span in islice(_ALIKE.spans(file.encoded), MOST_CHANGES):
        word = _Word(file.encoded, _without_boundary(file.encoded, span))
        if word.is_whole and not word.line_is_foreign:
            yield word


def _without_boundary(data: bytes, span: Span) -> Span:
    """The word without what stands before it."""
    first = data[span.start : span.start + 4].decode(errors="ignore")[:1]
    return span if first in _LETTERS else Span(span.start + len(first.encode()), span.end)
