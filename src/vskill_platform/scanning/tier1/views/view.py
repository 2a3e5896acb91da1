"""A view is a text made from a file, and the way back from the text to the file.

Every view is matched in one pass by `matching.py`. One that is made of changed pieces (`collage.py`) also tells whether a
match is news: what the file shows as it stands has been seen there, with all that excuses it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from vskill_platform.scanning.tier1.file_kinds import NO_TEXT, FileKind
from vskill_platform.scanning.tier1.kept import kept_property
from vskill_platform.scanning.tier1.patterns import Span
from vskill_platform.scanning.tier1.skill import FileUnderScan, LimitHit, Sighting, SkillUnderScan

RAW = "raw"
FRONTMATTER = "frontmatter"
NORMALISED = "normalised"
CARRIED = "carried"
UNESCAPED = "unescaped"
DECODED = "decoded"
JOINED = "joined"
UNQUOTED = "unquoted"
HIDDEN = "hidden"
PLAIN = "plain"
"""The layer of what is there for all to see and only written in a roundabout way, such as a command over two lines."""

_newline = re.compile(b"\n")
Made = TypeVar("Made")
Source = TypeVar("Source", SkillUnderScan, FileUnderScan)


class Position(NamedTuple):
    """A place in a file. Line and column count from 1, columns in characters; 0 and 0 mean the file as a whole."""

    line: int
    column: int


WHOLE_FILE = Position(0, 0)


@dataclass(frozen=True, eq=False)
class View:
    """A text made from a file. `data` is the text as UTF-8, `locate` leads from an offset in it to the file.

    `layer_at` names the layer of a match; it is None where nothing in the match differs from the file. Without it
    the whole view is of one layer. `in_passages` gives those paragraphs alone that have a trick in them, for rules that
    look at more than a match. `has_lines_of_file` says that each of its lines is the file's line of that number, or empty.
    """

    file: str
    layer: str
    kinds: frozenset[FileKind]
    data: bytes
    locate: Callable[[int], Position]
    layer_at: Callable[[Span], str | None] | None = None
    in_passages: Callable[[], View] | None = None
    has_lines_of_file: bool = False

    @property
    def is_prose(self) -> bool:
        """Whether this is text for readers: what is run, configures something or steers an agent's choice is not."""
        return self.kinds <= {FileKind.ANY, FileKind.MARKDOWN, FileKind.UNCOVERED}

    def layer_of(self, span: Span) -> str | None:
        """The layer of a match; None for one that the file shows as it stands."""
        return self.layer if self.layer_at is None else self.layer_at(span)


ViewMaker = Callable[[SkillUnderScan], Iterator[View]]
Uncovered = View | Sighting | LimitHit
Uncoverer = Callable[[SkillUnderScan], Iterator[Uncovered]]
"""Makes views and, on the way, sees things that are findings in themselves."""


class LineIndex:
    """Finds line and column of an offset. Costs nothing until the first question."""

    def __init__(self, data: bytes, *, first_line: int = 1) -> None:
        self._data = data
        self._first_line = first_line

    @kept_property
    def _starts(self) -> list[int]:
        return [0, *[found.end() for found in _newline.finditer(self._data)]]

    def locate(self, offset: int) -> Position:
        """Line and column of the character at this offset."""
        row = bisect_right(self._starts, offset) - 1
        column = len(self._data[self._starts[row] : offset].decode(errors="replace")) + 1
        return Position(self._first_line + row, column)


def _once(make: Callable[[Source], Made]) -> Callable[[Source], Made]:
    """The same function, asked once for each skill or file: what it gives is kept with that, as a cached property is."""
    name = f"{make.__module__}.{make.__qualname__}"

    def made(source: Source) -> Made:
        kept: dict[str, Made] = source.__dict__
        if name not in kept:
            kept[name] = make(source)
        return kept[name]

    return made


def once_a_skill(make: Callable[[SkillUnderScan], Made]) -> Callable[[SkillUnderScan], Made]:
    """The same function, asked once for each skill: what one view is made of, others go on from."""
    return _once(make)


def once_a_file(make: Callable[[FileUnderScan], Made]) -> Callable[[FileUnderScan], Made]:
    """The same function, asked once for each file."""
    return _once(make)


@once_a_skill
def files_by_size(skill: SkillUnderScan) -> list[FileUnderScan]:
    """All files but pictures and the like, the smallest first, so that one huge file cannot use up what all may cost."""
    files = [file for file in skill.files if file.shape not in NO_TEXT]
    return sorted(files, key=lambda file: len(file.content))


@once_a_file
def fence_spans(file: FileUnderScan) -> list[Span]:
    """Where in the file's text the lines of each of its fenced blocks stand, as if each line had a newline behind it."""
    lines, done, offset = file.lines, 0, 0
    spans: list[Span] = []
    for block in file.document.fences:
        start = offset + _size_of(lines[done : block.first_line - 1])
        offset = start + _size_of(lines[block.first_line - 1 : block.last_line])
        spans.append(Span(start, offset))
        done = block.last_line
    return spans


def _size_of(lines: list[str]) -> int:
    """How many bytes lines have, with a newline behind each."""
    return len("\n".join(lines).encode()) + 1 if lines else 0


@once_a_file
def places_in(file: FileUnderScan) -> Callable[[int], Position]:
    """The way from an offset in the file's text to its place."""
    return LineIndex(file.encoded).locate if file.has_places else _nowhere


def _nowhere(_offset: int) -> Position:
    return WHOLE_FILE
