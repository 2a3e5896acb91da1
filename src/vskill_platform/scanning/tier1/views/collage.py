"""Texts put together from pieces of a file, some as they stand and some changed, each with where it comes from.

A collage has only what changed and its surroundings, so that a view costs what it shows and not what the file weighs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple

from vskill_platform.scanning.limits import VIEW_LIMIT
from vskill_platform.scanning.tier1.file_kinds import FileKind
from vskill_platform.scanning.tier1.patterns import Span
from vskill_platform.scanning.tier1.skill import FileUnderScan, LimitHit, SkillUnderScan
from vskill_platform.scanning.tier1.views.view import PLAIN, View, files_by_size, places_in

REACH = 250
"""Bytes around a change that belong to its surroundings; more than the gaps that rules leave between words."""
TO_LINE = 120
"""Bytes that the surroundings may grow by to begin and end with a line."""
MOST_CHANGES = 50_000
MOST_BYTES = 8 * 1024 * 1024
"""Changes of one kind in one skill, and bytes of changed text. Beyond it the skill counts as not seen."""
CROWD, CROWD_REACH = 5, 120
"""How many ordinary changes within how many bytes are more than ordinary."""
BETWEEN = b"\n\n"


class Change(IntEnum):
    """What became of a piece."""

    NONE = 0
    ORDINARY = 1
    """Written in a roundabout way, as people do."""
    TRICK = 2
    """Written as nobody would who wants to be read."""


class Piece(NamedTuple):
    """A piece of a text. `start` and `end` say where in the file's text it comes from."""

    data: bytes
    start: int
    end: int
    change: Change = Change.NONE


_by_start = attrgetter("start")
"""The order of pieces in their file."""


def apart(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces in order, without those that overlap the one before."""
    kept: list[Piece] = []
    done = 0
    for piece in sorted(pieces, key=_by_start):
        if not kept or piece.start >= done:
            kept.append(piece)
            done = piece.end
    return kept


class _Spans:
    """Stretches in ascending order, which can be asked whether one of them lies in a match."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self.spans = list(spans)
        self._ends = [end for _, end in self.spans]

    def __bool__(self) -> bool:
        return bool(self.spans)

    def crowded(self) -> Iterator[tuple[int, int]]:
        """The stretches that stand close to the four behind them, as the blanks of an encoded sentence do."""
        for first, last in zip(self.spans, self.spans[CROWD - 1 :], strict=False):
            if last[0] - first[0] < CROWD_REACH:
                yield first

    def touch(self, match: Span) -> bool:
        """Whether the match has a part of a stretch in it, or the place where something was taken out."""
        at = bisect_right(self._ends, match.start)
        return at < len(self.spans) and self.spans[at][0] < match.end


class Collage:
    """Pieces of one file as one text."""

    def __init__(self, pieces: Sequence[Piece] = ()) -> None:
        self.data = b"".join(piece.data for piece in pieces)
        self._pieces = pieces
        self._starts = [0, *accumulate(len(piece.data) for piece in pieces)]
        self._changes = _Spans(self._spans_from(Change.ORDINARY))
        self._tricks = _Spans(self._spans_from(Change.TRICK))

    def __bool__(self) -> bool:
        return bool(self._pieces)

    @property
    def has_tricks(self) -> bool:
        """Whether anything in it is written as nobody would who wants to be read."""
        return bool(self._tricks)

    def source_of(self, offset: int) -> int:
        """Where in the file's text the byte at this offset comes from; in a changed piece as near as can be told."""
        at = min(bisect_right(self._starts, offset), len(self._pieces)) - 1
        piece = self._pieces[at]
        inside = (offset - self._starts[at]) * (piece.end - piece.start)
        return piece.start + inside // max(1, len(piece.data))

    def change_in(self, match: Span) -> Change:
        """The gravest change that a match has in it."""
        if self._tricks.touch(match):
            return Change.TRICK
        return Change.ORDINARY if self._changes.touch(match) else Change.NONE

    def view(self, file: FileUnderScan, layer: str, *, kinds: frozenset[FileKind] | None = None) -> View:
        """The view of this collage. Ordinary changes are of the layer `plain`."""
        place = places_in(file)
        layers = {Change.NONE: None, Change.ORDINARY: PLAIN, Change.TRICK: layer}
        return View(
            file=file.path,
            layer=layer,
            kinds=file.kinds | {FileKind.UNCOVERED} if kinds is None else kinds,
            data=self.data,
            locate=lambda offset: place(self.source_of(offset)),
            layer_at=lambda match: layers[self.change_in(match)],
            in_passages=lambda: self._in_passages(file, layer, kinds),
        )

    def _in_passages(self, file: FileUnderScan, layer: str, kinds: frozenset[FileKind] | None) -> View:
        """The paragraphs with a trick or many changes in them; all of their text counts as changed.

        Many changes may be the blanks of a sentence in an address. Such a sentence stands there twice: with the paragraph
        that leads to it, and alone.
        """
        marks = [(start, end, False) for start, end in self._tricks.spans]
        marks += [(start, end, True) for start, end in self._changes.crowded()]
        passages: list[Piece] = []
        done = 0
        for start, end, is_crowded in sorted(marks):
            if end <= done and done:
                continue
            begin = max(done, self.data.rfind(BETWEEN, done, start) + 1)
            done = self.data.find(BETWEEN, end)
            done = len(self.data) if done < 0 else done
            lead_in = self.data.rfind(BETWEEN, 0, max(0, begin - 1)) + 1
            starts = (lead_in, self._word_start(start, begin)) if is_crowded else (begin,)
            passages += [
                Piece(self.data[at:done], self.source_of(at), self.source_of(done), Change.TRICK) for at in starts
            ]
        return one_after_another(passages).view(file, layer, kinds=kinds)

    def _word_start(self, offset: int, earliest: int) -> int:
        """Where a word begins, also one in an address."""
        return max(self.data.rfind(sign, earliest, offset) + 1 for sign in (b" ", b"\n", b"#", b"?", b"=", b"/", b"("))

    def _spans_from(self, least: Change) -> Iterator[tuple[int, int]]:
        for piece, start, end in zip(self._pieces, self._starts, self._starts[1:], strict=False):
            if piece.change >= least:
                yield start, end


NOTHING = Collage()


class Collages(NamedTuple):
    """The collages of a skill's files. `is_cut` says that there would have been more to change."""

    of: dict[FileUnderScan, Collage]
    is_cut: bool

    def views(self, layer: str) -> Iterator[View | LimitHit]:
        """The views of the files in which something changes."""
        if self.is_cut:
            yield LimitHit(VIEW_LIMIT)
        for file, collage in self.of.items():
            yield collage.view(file, layer)


class Allowance:
    """How many changes the files of a skill may have together, and how many bytes in them."""

    def __init__(self, *, changes: int = MOST_CHANGES, size: int = MOST_BYTES) -> None:
        self._changes = changes
        self._size = size
        self.is_spent = False

    def some_of(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """The pieces, as long as the allowance lasts."""
        for piece in pieces:
            self._changes -= 1
            self._size -= len(piece.data)
            if self._changes < 0 or self._size < 0:
                self.is_spent = True
                return
            yield piece


def collages_of(skill: SkillUnderScan, changes_in: Callable[[FileUnderScan], Iterable[Piece]]) -> Collages:
    """What changes in each file, and its surroundings; files without changes are left out.

    Of a file that is known to have none, `changes_in` gives an empty tuple.
    """
    allowance = Allowance()
    found: dict[FileUnderScan, Collage] = {}
    for file in files_by_size(skill):
        changes = changes_in(file)
        if changes and (pieces := apart(allowance.some_of(changes))):
            found[file] = in_place(file.encoded, pieces)
    return Collages(found, is_cut=allowance.is_spent)


def in_place(data: bytes, changes: Iterable[Piece]) -> Collage:
    """The changed pieces where they stand, each with its surroundings. The pieces are in order and do not overlap."""
    pieces = list(changes)
    return Collage(list(_with_surroundings(data, pieces))) if pieces else NOTHING


def one_after_another(pieces: Iterable[Piece]) -> Collage:
    """Pieces that stand for themselves, with a blank line between them."""
    return Collage([part for piece in pieces for part in (piece, Piece(BETWEEN, piece.end, piece.end))])


def _with_surroundings(data: bytes, changes: Sequence[Piece]) -> Iterator[Piece]:
    at = 0
    shown_to = -1
    for number, change in enumerate(changes):
        begin = surroundings_start(data, change.start)
        if begin > shown_to:
            if shown_to >= 0:
                yield Piece(data[at:shown_to], at, shown_to)
                yield Piece(BETWEEN, shown_to, shown_to)
            at = begin
        yield Piece(data[at : change.start], at, change.start)
        yield change
        at = change.end
        shown_to = max(at, surroundings_end(data, at))
        if number + 1 == len(changes):
            yield Piece(data[at:shown_to], at, shown_to)


def surroundings_start(data: bytes, offset: int) -> int:
    """Where the surroundings of what begins at this offset begin."""
    near = max(0, offset - REACH)
    return data.rfind(b"\n", max(0, near - TO_LINE), near) + 1 or near


def surroundings_end(data: bytes, offset: int) -> int:
    """Where the surroundings of what ends at this offset end."""
    near = min(len(data), offset + REACH)
    line = data.find(b"\n", near, near + TO_LINE)
    return near if line < 0 else line
