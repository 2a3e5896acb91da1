"""Finds the line that ends a here-document, at the same small cost however many there are."""

from __future__ import annotations

from bisect import bisect_left

LONGEST_DELIMITER = 200


class LineEndings:
    """The lines of a text by what stands on them."""

    def __init__(self, text: str) -> None:
        self._exact: dict[str, list[int]] = {}
        self._indented: dict[str, list[int]] = {}
        start = 0
        for line in text.split("\n"):
            if len(line) <= LONGEST_DELIMITER:
                stripped = line.strip()
                held = self._exact if line.rstrip("\r") == stripped else self._indented
                held.setdefault(stripped, []).append(start)
            start += len(line) + 1
        self._text = text

    def ending(self, delimiter: str, start: int, *, may_indent: bool) -> tuple[int, int] | None:
        """Where the line with this delimiter begins, and where the next one does, from an offset on; None if never.

        A line that is indented counts where the shell lets it, and where no other one comes: a block in a list is indented.
        """
        exact = _first_from(self._exact.get(delimiter, ()), start)
        indented = _first_from(self._indented.get(delimiter, ()), start)
        if may_indent and exact is not None and indented is not None:
            exact = min(exact, indented)
        found = indented if exact is None else exact
        if found is None:
            return None
        after = self._text.find("\n", found)
        return found, len(self._text) if after < 0 else after + 1


def _first_from(offsets: list[int] | tuple[()], start: int) -> int | None:
    at = bisect_left(offsets, start)
    return offsets[at] if at < len(offsets) else None
