"""The code cells of notebooks. What is not shaped like a notebook is passed over piece by piece, never refused as a whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

_MAGIC = re.compile(r"[ \t]*[%!?]")
_STATEMENT = re.compile(r"\S.*")
MOST_MISSES = 200
"""Lines that are written in some other way in the file than usual, and looked for in all of it."""


class NotebookCode(NamedTuple):
    """All code of a notebook as one text, because its cells share their names, and the file's line for each of its lines."""

    text: str
    lines: tuple[int, ...]


def code_of_notebook(text: str) -> NotebookCode | None:
    """The code of a notebook; None for what is no JSON or holds none."""
    try:
        notebook = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None
    found, offsets, at, misses = list[str](), list[int](), 0, 0
    for cell in _code_cells(notebook):
        for line in cell.split("\n"):
            if line.strip() and misses < MOST_MISSES:
                place = text.find(json.dumps(line, ensure_ascii=False)[1:-1][:200], at)
                misses += place < 0
                at = max(at, place)
            found.append(_STATEMENT.sub("pass", line) if _MAGIC.match(line) else line)
            offsets.append(at)
    return NotebookCode("\n".join(found), _line_numbers(text, offsets)) if found else None


def _code_cells(notebook: object) -> Iterator[str]:
    """The texts of the code cells, in the forms of all versions of the format."""
    holders = [notebook, *_list_at(notebook, "worksheets")]
    cells = [cell for holder in holders for cell in _list_at(holder, "cells")]
    for cell in cells:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source", cell.get("input"))
            parts = source if isinstance(source, list) else [source]
            yield "".join(part for part in parts if isinstance(part, str))


def _list_at(holder: object, name: str) -> list[object]:
    held = holder.get(name) if isinstance(holder, dict) else None
    return held if isinstance(held, list) else []


def _line_numbers(text: str, offsets: list[int]) -> tuple[int, ...]:
    """The lines of ascending offsets, in one pass."""
    numbers, line, at = list[int](), 1, 0
    for offset in offsets:
        line += text.count("\n", at, offset)
        at = offset
        numbers.append(line)
    return tuple(numbers)
