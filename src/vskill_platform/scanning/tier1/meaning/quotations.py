"""Which words of a line are a quotation: between quotation marks that belong together, in a code span or in a cell of a table.

Marks are paired from the left, as a reader does. A place between the end of one quotation and the beginning of the next is
not quoted, though it has marks on both sides.
"""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.patterns import Span

_MARK = re.compile(r"`+|[\"“«「]")
_QUOTATION = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|«[^»]*»|「[^」]*」")
_CLOSING = {'"': '"', "“": "”", "«": "»", "「": "」"}


def quotation_at(line: str, at: int) -> Span | None:
    """The quotation around a place of a line, with its marks."""
    position = 0
    while opening := _MARK.search(line, position):
        if opening.start() > at:
            return None
        closing = line.find(_CLOSING.get(opening[0], opening[0]), opening.end())
        end = closing + len(opening[0])
        if closing >= 0 and at < end:
            return Span(opening.start(), end)
        position = opening.end() if closing < 0 else end
    return None


def cell_at(line: str, at: int) -> Span:
    """The cell of a table's row around a place, and where a bar is part of a quotation, all of that quotation."""
    quoted = quotation_at(line, at) or Span(at, at)
    start = line.rfind("|", 0, quoted.start) + 1
    end = line.find("|", quoted.end)
    return Span(start, len(line) if end < 0 else end)


def around(line: str, span: Span) -> str:
    """The line without the quotation."""
    return f"{line[: span.start]} {line[span.end :]}"


def without_quotations(line: str) -> str:
    """A line without what is quoted in it."""
    return _QUOTATION.sub("", line)
