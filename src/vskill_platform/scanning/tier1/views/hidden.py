"""What a page of Markdown or HTML does not show: comments, hidden elements, titles, texts in place of images.

An agent reads all of it. Here it is text of the kind `hidden`, which stricter rules look at and no word of warning excuses.
What stands in a fenced block or between backticks is shown as it is, and so is not hidden.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from vskill_platform.scanning.limits import VIEW_LIMIT
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import FileKind
from vskill_platform.scanning.tier1.kept import kept_property
from vskill_platform.scanning.tier1.patterns import Pattern
from vskill_platform.scanning.tier1.skill import FileUnderScan, LimitHit, Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.views.collage import Allowance, Change, Piece, apart, one_after_another
from vskill_platform.scanning.tier1.views.glance import Sign, signs_of
from vskill_platform.scanning.tier1.views.hidden_elements import ELEMENT_HINT, HiddenElement, hidden_elements
from vskill_platform.scanning.tier1.views.view import HIDDEN, Uncovered, fence_spans, files_by_size, places_in

SHORTEST = 8
"""Bytes from which on a hidden text can say anything."""
LINE_REACH = 1_000
FEWEST_WORDS = 8
_INNER_TAG = re.compile(rb"<[^<>]*+>")
_WORD = re.compile(rb"[^\W\d_]{2,}|[\xc3-\xf4][\x80-\xbf]+")
"""A word, or a letter of another alphabet."""
_QUOTES = (b'"', b"'", b")")


def _within(opening: bytes, closing: bytes) -> Callable[[bytes], bytes]:
    return lambda found: found.removeprefix(opening).removesuffix(closing).strip(b" \t\r\n-!")


def _in_last_quotes(found: bytes) -> bytes:
    """What stands in the quotes or parentheses at the end."""
    inside = found.rstrip()
    closing = inside[-1:]
    return inside[:-1].rpartition(b"(" if closing == b")" else closing)[2] if closing in _QUOTES else inside


class _Place(NamedTuple):
    """A place where text can hide: a sign that one may be there, one itself, and how to get at its text."""

    sign: Sign
    pattern: Pattern
    text_of: Callable[[bytes], bytes]


_PLACES = (
    _Place(Sign("<!--"), Pattern(r"(?s)<!--.*?(?:--!?>|\z)"), _within(b"<!--", b"-->")),
    _Place(
        Sign(r"\{/\*|<!\[CDATA|<\?[a-z]|\\(?:text)?color\{white\}"),
        Pattern(
            r"(?s)\{/\*.*?\*/\}|<!\[CDATA\[.*?\]\]>|<\?[a-z].*?\?>"
            r"|\{\\color\{white\}(?:[^{}]|\{[^{}]*\})*\}|\\textcolor\{white\}\{(?:[^{}]|\{[^{}]*\})*\}"
        ),
        lambda found: found[2:-1],
    ),
    _Place(
        Sign(r"(?m)^[ \t>]*\[[^\]\n]+\]:"),
        Pattern(
            r"(?m)^[ \t>]{0,8}\[[^\]\n^][^\]\n]*\]:[ \t]*(?:<[^>\n]*>|[^\s<][^\s]*)?[ \t]*\n?[ \t]*"
            r"(?:\((?:[^()\n]|\n[^\n)(])*\)|\"(?:[^\"\n]|\n[^\n\"])*\"|'(?:[^'\n]|\n[^\n'])*')[ \t]*$"
        ),
        _in_last_quotes,
    ),
    _Place(
        Sign(r"\]\([^\s()]*[ \t]+[\"'(]"),
        Pattern(r"\]\((?:<[^>\n]*>|[^\s()]*)[ \t]+(?:\"[^\"\n]+\"|'[^'\n]+'|\([^()\n]+\))"),
        _in_last_quotes,
    ),
    _Place(Sign(r"!\["), Pattern(r"!\[[^\]\n]+\]"), _within(b"![", b"]")),
    _Place(
        Sign(r"(?i)\b(?:alt|title|aria-label|aria-description|data-[a-z-]+|content)\s*=\s*[\"']"),
        Pattern(
            r"(?i)<[a-z][^<>]*?[\s\"'](?:alt|title|aria-label|aria-description|data-[a-z-]+|content)\s*=\s*"
            r"(?:\"[^\"]+\"|'[^']+')"
        ),
        _in_last_quotes,
    ),
    _Place(
        Sign("data:text/"),
        Pattern(r"data:text/[a-z+.-]+(?:;charset=[A-Za-z0-9-]+)?(?:;[a-z]+=[^;,\s]*)*,[^\s\"'<>)]+"),
        lambda found: unquote_to_bytes(found.partition(b",")[2]),
    ),
)
_ELEMENTS = Sign(ELEMENT_HINT)
_PAGES = (".html", ".htm")
_PROGRAM = re.compile(rb"(?i)<script\b")
_SHOWN_AS_THEY_ARE = (".csv", ".tsv")
"""How files end that no reader takes for a page."""


def hidden_views(skill: SkillUnderScan) -> Iterator[Uncovered]:
    """What pages do not show."""
    allowance = Allowance()
    for file in files_by_size(skill):
        if FileKind.MARKDOWN not in file.kinds or file.path.lower().endswith(_SHOWN_AS_THEY_ARE):
            continue
        shown = _Shown(file)
        elements = list(hidden_elements(file.encoded, shown.has)) if _ELEMENTS in signs_of(file) else []
        yield from islice(_unseen_sentences(file, elements), skill.limits.max_places)
        pieces = apart(allowance.some_of(_hidden_in(file, shown, elements)))
        if pieces:
            yield one_after_another(pieces).view(file, HIDDEN, kinds=file.kinds | {FileKind.HIDDEN})
    if allowance.is_spent:
        yield LimitHit(VIEW_LIMIT)


def _unseen_sentences(file: FileUnderScan, elements: Sequence[HiddenElement]) -> Iterator[Sighting]:
    """Text that is long enough to say something, in elements that their own style hides."""
    has_programs = file.path.lower().endswith(_PAGES) and _PROGRAM.search(file.encoded) is not None
    for element in elements:
        if element.is_unseen and not (has_programs and element.may_be_shown) and _has_words(element.text):
            line, column = places_in(file)(element.span.start)
            told = make_excerpt(element.text.decode(errors="replace").strip())
            yield Sighting("unseen_sentence", file.path, line, column, told, HIDDEN)


def _has_words(text: bytes) -> bool:
    """Whether there are enough words for a sentence; what stands in tags is none."""
    return len(list(islice(_WORD.finditer(_INNER_TAG.sub(b" ", text)), FEWEST_WORDS))) == FEWEST_WORDS


def _hidden_in(file: FileUnderScan, shown: _Shown, elements: Sequence[HiddenElement]) -> Iterator[Piece]:
    for start, end, text in _texts(file.encoded, elements, signs_of(file)):
        if len(text) >= SHORTEST and not shown.has(start):
            yield Piece(text, start, end, Change.TRICK)


def _texts(data: bytes, elements: Sequence[HiddenElement], signs: Set[Sign]) -> Iterator[tuple[int, int, bytes]]:
    for place in _PLACES:
        if place.sign in signs:
            yield from ((start, end, place.text_of(data[start:end])) for start, end in place.pattern.spans(data))
    yield from ((*element.span, element.text.strip()) for element in elements)


class _Shown:
    """Tells what a page shows as it is: fenced blocks, and code between backticks."""

    def __init__(self, file: FileUnderScan) -> None:
        self._file = file

    def has(self, offset: int) -> bool:
        """Whether what stands here is shown as it is."""
        starts, ends = self._fences
        number = bisect_right(starts, offset) - 1
        return (number >= 0 and offset < ends[number]) or self._is_between_backticks(offset)

    def _is_between_backticks(self, offset: int) -> bool:
        data = self._file.encoded
        begin = data.rfind(b"\n", max(0, offset - LINE_REACH), offset) + 1 or max(0, offset - LINE_REACH)
        if data.count(b"\x60", begin, offset) % 2 == 0:
            return False
        stop = data.find(b"\n", offset, offset + LINE_REACH)
        return data.find(b"\x60", offset, offset + LINE_REACH if stop < 0 else stop) >= 0

    @kept_property
    def _fences(self) -> tuple[list[int], list[int]]:
        data = self._file.encoded
        if b"\x60\x60\x60" not in data and b"~~~" not in data:
            return [], []
        spans = fence_spans(self._file)
        return [start for start, _ in spans], [end for _, end in spans]
