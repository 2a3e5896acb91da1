"""Texts with one blank between words, and patterns for them: a phrase is a plain string there, and found in half the time.

The sketch of a pattern matches a text with one blank wherever the pattern matches the text itself, and elsewhere too: it only
says where it is worth looking. White space of any kind and length is one blank to it, a gap may go over lines, and the
beginning or the end of a line is a blank as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from vskill_platform.scanning.tier1.pattern_items import Item, NotUnderstood, read_pattern

_BLANKS = frozenset([" ", "\n", r"\s", r"\n", r"\t", r"\r", r"\f", r"[\s]", r"[ \t]", r"[ \n]", r"[\t ]", r"[\r\n]"])
_EDGES = frozenset(["^", "$", r"\A", r"\z"])
"""Where a line or a text begins or ends: there is white space or nothing, and in a text with one blank always a blank."""
_ANYTHING = "(?s:.)"
_ANY_STRETCH = "(?s:.*)"
_IN_CLASS = re.compile(r"\\.|.", re.DOTALL)
_WHITE = frozenset([" ", "\n", "\t", r"\s", r"\n", r"\t", r"\r", r"\f", r"\D", r"\W"])
_NOT_READ = re.compile(r"\[:|\\x(?:[01{]|20)|\\[tnrf]-|[\x00-\x1f]-|^\]")
"""Classes with names, white space by its number, and ranges that begin with white space."""
_NOT_EVEN_ONCE = {"": "?", "?": "?", "*": "*", "+": "*"}
"""How often something stands in a text that need not be there at all."""


def with_one_blank(data: bytes) -> bytes:
    """A text with one blank between its words, before the first and behind the last."""
    return b" %b " % b" ".join(data.split())


def sketch(source: str) -> str | None:
    """What to look for in a text with one blank, where a pattern may match the text; None for a pattern that is not understood.

    Counted repetitions have been loosened to `*` and `+` before.
    """
    try:
        flags, alternatives = read_pattern(source)
        return flags + "|".join(_of_sequence(sequence, behind_blank=False)[0] for sequence in alternatives)
    except NotUnderstood:
        return None


def _of_sequence(sequence: Sequence[Item], *, behind_blank: bool) -> tuple[str, bool]:
    """The sketch of a sequence, and whether what it matches may end with a blank.

    White space in a row is one blank. Behind what may have ended with a blank no other need come: both may have been one.
    """
    parts: list[str] = []
    for is_white, items in groupby(sequence, key=_is_white):
        if is_white:
            parts.append(" ?" if behind_blank or all(item.may_be_missing for item in items) else " ")
            behind_blank = True
            continue
        for item in items:
            part, behind_blank = _of_item(item, behind_blank=behind_blank)
            parts.append(part)
    return "".join(parts), behind_blank


def _is_white(item: Item) -> bool:
    """Whether the item matches white space and nothing else."""
    return item.opening in _BLANKS or item.opening in _EDGES


def _of_item(item: Item, *, behind_blank: bool) -> tuple[str, bool]:
    how_often = item.quantifier[:1]
    if item.alternatives:
        return _of_group(item, how_often, behind_blank=behind_blank)
    if item.is_gap:
        return _ANY_STRETCH, True
    if item.opening == r"\B":
        return "", behind_blank
    if (anything := _with_blank(item.opening)) is not None:
        return anything + (_NOT_EVEN_ONCE[how_often] if behind_blank else how_often), True
    return item.opening + how_often, behind_blank and (item.may_be_missing or item.opening == r"\b")


def _of_group(item: Item, how_often: str, *, behind_blank: bool) -> tuple[str, bool]:
    repeats = how_often in {"*", "+"}
    if repeats and item.has_gap:
        return _ANY_STRETCH, True
    inside = [_of_sequence(sequence, behind_blank=behind_blank) for sequence in item.alternatives]
    ends_with_blank = any(may_end for _, may_end in inside)
    if repeats and ends_with_blank and not behind_blank:
        inside = [_of_sequence(sequence, behind_blank=True) for sequence in item.alternatives]
    source = f"{item.opening}{'|'.join(part for part, _ in inside)}){how_often}"
    return source, ends_with_blank or (behind_blank and item.may_be_missing)


def _with_blank(opening: str) -> str | None:
    """A class of characters that has white space in it, with the blank; None for what no white space is in."""
    if opening in {".", r"\D", r"\W"}:
        return opening
    is_negated = opening.startswith("[^")
    inside = opening[2 if is_negated else 1 : -1] if opening.startswith("[") else opening
    if _NOT_READ.search(inside):
        raise NotUnderstood
    if not opening.startswith("["):
        return None
    members = set(_IN_CLASS.findall(inside))
    if not is_negated:
        return _with_blank_among(opening, inside, members)
    if not members.isdisjoint({r"\S", r"\D", r"\W"}):
        raise NotUnderstood
    if r"\s" in members:
        return None
    return _ANYTHING if " " in members else opening


def _with_blank_among(opening: str, inside: str, members: set[str]) -> str | None:
    """The same of some characters. No range may come of it."""
    if members.isdisjoint(_WHITE):
        return None
    if not members.isdisjoint({" ", r"\s", r"\D", r"\W"}):
        return opening
    if inside.startswith("-"):
        raise NotUnderstood
    return f"[ {inside}]"
