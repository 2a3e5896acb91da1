"""The ways a file is looked at. A view is a text made from a file, and the way back from the text to the file.

`raw` is the file as it stands. `normalised` is what is left when look-alike letters are folded and characters without
width are taken out; it is only made where it differs. `frontmatter` is the head of the SKILL.md, for the rules that look
at nothing else. Another view is another function like these, named in `analysers.py`.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from vskill_platform.scanning.tier1.file_kinds import FileKind, Shape
from vskill_platform.scanning.tier1.skill import WITHOUT_WIDTH, FileUnderScan, SkillUnderScan

LONGEST_MAPPED = 20_000
"""Characters of a line up to which columns are mapped back exactly; in a longer line they are near enough."""
_newline = re.compile(b"\n")


class Position(NamedTuple):
    """A place in a file. Line and column count from 1, columns in characters; 0 and 0 mean the file as a whole."""

    line: int
    column: int


WHOLE_FILE = Position(0, 0)


@dataclass(frozen=True, eq=False)
class View:
    """A text made from a file. `data` is the text as UTF-8, `locate` leads from an offset in it to the file."""

    file: str
    layer: str
    kinds: frozenset[FileKind]
    data: bytes
    locate: Callable[[int], Position]

    @property
    def is_prose(self) -> bool:
        """Whether this is text for readers: what is run, configures something or steers an agent's choice is not."""
        return self.kinds <= {FileKind.ANY, FileKind.MARKDOWN}


ViewMaker = Callable[[SkillUnderScan], Iterator[View]]


class LineIndex:
    """Finds line and column of an offset. Costs nothing until the first question."""

    def __init__(self, data: bytes, *, first_line: int = 1) -> None:
        self._data = data
        self._first_line = first_line

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in _newline.finditer(self._data))]

    def locate(self, offset: int) -> Position:
        """Line and column of the character at this offset."""
        row = bisect_right(self._starts, offset) - 1
        column = len(self._data[self._starts[row] : offset].decode(errors="replace")) + 1
        return Position(self._first_line + row, column)


def raw_views(skill: SkillUnderScan) -> Iterator[View]:
    """Every file as it stands, whatever it is."""
    for file in skill.files:
        yield View(
            file=file.path, layer="raw", kinds=file.kinds, data=file.encoded, locate=_locator(file, file.encoded)
        )


def normalised_views(skill: SkillUnderScan) -> Iterator[View]:
    """Files whose text changes when look-alikes are folded and what has no width is taken out."""
    for file in skill.files:
        if file.content.isascii() or file.shape is Shape.MEDIA:
            continue
        if file.has_invisible_text or not unicodedata.is_normalized("NFKC", file.text):
            data = normalise(file.text).encode()
            locate = _way_back(file, _locator(file, data))
            yield View(file=file.path, layer="normalised", kinds=file.kinds, data=data, locate=locate)


def frontmatter_views(skill: SkillUnderScan) -> Iterator[View]:
    """The frontmatter of the SKILL.md."""
    if skill.skill_file is None or skill.frontmatter is None:
        return
    data = skill.frontmatter.text.encode()
    index = LineIndex(data, first_line=skill.frontmatter.first_line)
    yield View(
        file=skill.skill_file.path,
        layer="frontmatter",
        kinds=frozenset({FileKind.FRONTMATTER}),
        data=data,
        locate=index.locate if skill.skill_file.has_places else _nowhere,
    )


def normalise(text: str) -> str:
    """The text in NFKC without the characters that have no width. The lines stay the same lines."""
    stripped = WITHOUT_WIDTH.sub("", text)
    return stripped if unicodedata.is_normalized("NFKC", stripped) else unicodedata.normalize("NFKC", stripped)


def _locator(file: FileUnderScan, data: bytes) -> Callable[[int], Position]:
    return LineIndex(data).locate if file.has_places else _nowhere


def _nowhere(_offset: int) -> Position:
    return WHOLE_FILE


def _way_back(file: FileUnderScan, locate: Callable[[int], Position]) -> Callable[[int], Position]:
    def locate_in_file(offset: int) -> Position:
        place = locate(offset)
        if place == WHOLE_FILE:
            return place
        return Position(place.line, _column_before(file.lines[place.line - 1], place.column))

    return locate_in_file


def _column_before(line: str, column: int) -> int:
    """The column of the character that the one at `column` of the normalised line came from."""
    if len(line) > LONGEST_MAPPED:
        return min(column, len(line))
    reached = 0
    for number, character in enumerate(line, start=1):
        reached += len(normalise(character))
        if reached >= column:
            return number
    return max(1, len(line))
