"""Collects what is seen in one piece of code, with its places."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property

from vskill_platform.scanning.limits import UNREAD_CODE
from vskill_platform.scanning.tier1.excerpts import make_excerpt, show_invisible
from vskill_platform.scanning.tier1.skill import Fact, FactKind, LimitHit, Sighting

MOST_FACTS = 2_000
"""Facts of one kind that are kept."""
MOST_PLACES = 21
"""Places of one check that are told apart."""
LONGEST_FACT = 300
_NEWLINE = re.compile("\n")


class Report:
    """What has been seen in a text that begins at a line of a file. The same thing on the same line is said once.

    `weaker` names the checks that go by another name here, because people read the text before anything runs.
    """

    def __init__(
        self, file: str, text: str, *, layer: str, first_line: int = 1, weaker: frozenset[str] = frozenset()
    ) -> None:
        self._layer = layer
        self._weaker = weaker
        self._file = file
        self._text = text
        self._first_line = first_line
        self._sightings: dict[tuple[str, int], Sighting] = {}
        self._places: dict[str, int] = {}
        self._facts: dict[tuple[FactKind, str], Fact] = {}
        self._known: dict[FactKind, int] = {}

    def is_written(self, text: str) -> bool:
        """Whether something stands in the text as it is."""
        return text in self._text

    def see(self, check: str, at: int) -> None:
        """Something that a rule names, at an offset."""
        check = f"{check}_in_text" if check in self._weaker else check
        row = bisect_right(self._starts, at) - 1
        line = self._first_line + row
        if (check, line) not in self._sightings and self._places.get(check, 0) < MOST_PLACES:
            self._places[check] = self._places.get(check, 0) + 1
            start = self._starts[row]
            end = self._starts[row + 1] - 1 if row + 1 < len(self._starts) else len(self._text)
            excerpt = make_excerpt(self._text[start:end], start=at - start)
            self._sightings[check, line] = Sighting(check, self._file, line, at - start + 1, excerpt, self._layer)

    def know(self, kind: FactKind, at: int, value: str) -> None:
        """A fact, at an offset."""
        key = (kind, value)
        if key in self._facts:
            return
        self._known[kind] = known = self._known.get(kind, 0) + 1
        if known <= MOST_FACTS:
            line = self._first_line + bisect_right(self._starts, at) - 1
            self._facts[key] = Fact(kind, self._file, line, show_invisible(value)[:LONGEST_FACT], self._layer)

    def all(self) -> Iterator[Sighting | Fact | LimitHit]:
        """Everything, sightings first, and whether there were too many facts of a kind to keep them all."""
        yield from self._sightings.values()
        yield from self._facts.values()
        if any(count > MOST_FACTS for count in self._known.values()):
            yield LimitHit(UNREAD_CODE)

    @cached_property
    def _starts(self) -> list[int]:
        if "\n" not in self._text:
            return [0]
        return [0, *[found.end() for found in _NEWLINE.finditer(self._text)]]
