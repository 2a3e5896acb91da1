"""Text of others as lines for a reviewer: numbered, with what is invisible made visible, and cut where there is too much.

Nothing in here decides what is dangerous; it only takes care that a reviewer sees every character that an agent would read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from vskill_platform.domain.scan import Finding
from vskill_platform.scanning.tier1.excerpts import INVISIBLE

LINES_SHOWN = 1000
MAX_LINE_CHARS = 2000
MAX_TEXT_BYTES = 4 * 1024 * 1024
_hidden = re.compile(f"[{INVISIBLE}]")
_TAB = "\t"


class Piece(NamedTuple):
    """A run of characters. One that is invisible has its number as `code`, which is shown in its place."""

    text: str
    code: str = ""


class SourceLine(NamedTuple):
    """A line: its pieces, how many characters of it are left out, and the numbers of the findings that stand in it."""

    number: int
    pieces: list[Piece]
    left_out: int
    findings: tuple[int, ...]
    severity: str


class SourceText(NamedTuple):
    """Some lines of a file; none where it is no text, and then `note` says why."""

    lines: list[SourceLine]
    first: int
    total: int
    hidden: int
    note: str = ""

    @property
    def last(self) -> int:
        """The number of the last line that is shown."""
        return self.first + len(self.lines) - 1 if self.lines else 0


def lines_of(content: bytes, *, findings: Sequence[tuple[int, Finding]], around: int = 1) -> SourceText:
    """The lines of a file from the stretch that has the line `around`. `findings` are those of the file, with their numbers."""
    if b"\0" in content[:MAX_TEXT_BYTES]:
        return SourceText([], 0, 0, 0, "It is not text, so there is nothing to read here.")
    text = content[:MAX_TEXT_BYTES].decode("utf-8", "backslashreplace").replace("\r\n", "\n")
    every = text.removesuffix("\n").split("\n")
    first = (max(1, min(around, len(every))) - 1) // LINES_SHOWN * LINES_SHOWN + 1
    marks = _marks(findings)
    shown = [
        _line(number, text, marks) for number, text in enumerate(every[first - 1 : first - 1 + LINES_SHOWN], first)
    ]
    note = "Only its beginning is shown: it is longer than a page can hold." if len(content) > MAX_TEXT_BYTES else ""
    return SourceText(shown, first, len(every), sum(1 for line in every for _ in _hidden_in(line)), note)


def _marks(findings: Sequence[tuple[int, Finding]]) -> dict[int, list[tuple[int, Finding]]]:
    marks: dict[int, list[tuple[int, Finding]]] = {}
    for number, finding in findings:
        for line in (finding.line, *finding.more_lines):
            marks.setdefault(line, []).append((number, finding))
    return marks


def _line(number: int, text: str, marks: Mapping[int, list[tuple[int, Finding]]]) -> SourceLine:
    found = marks.get(number, [])
    severity = found[0][1].severity.value if found else ""
    left_out = max(0, len(text) - MAX_LINE_CHARS)
    pieces = list(pieces_of(text[:MAX_LINE_CHARS]))
    return SourceLine(number, pieces, left_out, tuple(mark for mark, _ in found), severity)


def pieces_of(text: str) -> Iterator[Piece]:
    """The text in pieces: what can be seen as it is, and each character that cannot as its number."""
    place = 0
    for found in _hidden_in(text):
        if found.start() > place:
            yield Piece(text[place : found.start()])
        yield Piece(found.group(), f"U+{ord(found.group()):04X}")
        place = found.end()
    if place < len(text):
        yield Piece(text[place:])


def _hidden_in(text: str) -> Iterator[re.Match[str]]:
    return (found for found in _hidden.finditer(text) if found.group() != _TAB)
