"""What a text must not be before a parser sees it: too long, too dense, too deep."""

from __future__ import annotations

import re

LARGEST_SOURCE = 1_000_000
MOST_TOKENS = 200_000
"""Words and signs of one text. Each may become a node of half a kilobyte."""
DEEPEST_BRACKETS = 150
_TOKEN = re.compile(r"\w+|[^\w\s]")
ORDINARY_DEPTH = 12
"""As deep as most code goes: so many times what is innermost is taken away, before brackets are counted one by one."""
_OPEN = ord("(")
_ALIKE = bytes.maketrans(b"[{]}", b"(())")
_NO_BRACKETS = bytes(sign for sign in range(256) if sign not in b"()[]{}")
_MARK = re.compile(r"\"\"\"|'''|[\"'#()\[\]{}]")


class Refused(Exception):
    """The text is larger or deeper than is looked at."""


def ensure_bounded(text: str) -> None:
    """Raise Refused for a text whose tree would take too much memory, or whose nesting would take too much stack."""
    if len(text) > LARGEST_SOURCE or "\0" in text:
        raise Refused
    if len(text) > MOST_TOKENS // 2 and sum(1 for _ in _TOKEN.finditer(text)) > MOST_TOKENS:
        raise Refused
    opened = text.count("(") + text.count("[") + text.count("{")
    if (
        opened > DEEPEST_BRACKETS
        and _depth(text) > DEEPEST_BRACKETS
        and _depth_outside_strings(text) > DEEPEST_BRACKETS
    ):
        raise Refused


def _depth(text: str) -> int:
    """How deep brackets go, wherever they stand; where that is no more than is read, it may be too much by a little."""
    brackets = text.encode("utf-8", "replace").translate(_ALIKE, _NO_BRACKETS)
    inner = brackets
    for depth in range(ORDINARY_DEPTH):
        if not inner:
            return depth
        inner = inner.replace(b"()", b"")
    deepest = ORDINARY_DEPTH + inner.count(b"(")
    return deepest if deepest <= DEEPEST_BRACKETS else _counted_depth(brackets)


def _counted_depth(brackets: bytes) -> int:
    depth = deepest = 0
    for sign in brackets:
        if sign == _OPEN:
            depth += 1
            deepest = max(deepest, depth)
        elif depth:
            depth -= 1
    return deepest


def _depth_outside_strings(text: str) -> int:
    """The same without what stands in strings and comments. Each character is looked at once."""
    depth = deepest = at = 0
    while (found := _MARK.search(text, at)) is not None:
        mark, at = found.group(), found.end()
        if mark in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in ")]}":
            depth = max(0, depth - 1)
        elif mark == "#":
            at = _end_of_line(text, at)
        else:
            at = _end_of_string(text, at, mark)
    return deepest


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _end_of_string(text: str, at: int, mark: str) -> int:
    stop = re.compile(r"\\|" + mark + ("" if len(mark) == 3 else r"|\n"))
    while (found := stop.search(text, at)) is not None:
        if found.group() != "\\":
            return found.end()
        at = found.end() + 1
    return len(text)
