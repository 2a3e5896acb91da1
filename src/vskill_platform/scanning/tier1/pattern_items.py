"""A pattern taken apart: alternatives, each a sequence of letters, classes and groups with how often they stand there.

For modules that make another pattern of one. What is not understood here is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_HEAD = re.compile(r"\(\?[a-zA-Z-]+\)")
_TOKEN = re.compile(
    r"\\[xpP]\{[^}]*\}|\\[pP].|\\x[0-9a-fA-F]{2}|\\.|\[\^?\]?(?:\\[xpP]\{[^}]*\}|\\.|\[:\^?\w+:\]|[^\]\\])*\]"
    r"|\(\?P?<\w+>|\(\?[a-zA-Z-]*:|\(|\)|\||[*+?]\??|[a-zA-Z]+(?![*+?])|.",
    re.DOTALL,
)
"""Letters are read together, but for one that is repeated."""
_QUANTIFIER = re.compile(r"[*+?]\??")
_GAP = re.compile(r"\[\^.*\]|\.|\\S", re.DOTALL)


class Item(NamedTuple):
    """One thing of a sequence: letters, a character, a class or a group, and how often it stands there."""

    opening: str
    alternatives: tuple[tuple[Item, ...], ...]
    quantifier: str

    @property
    def source(self) -> str:
        """The item as it stands in the pattern."""
        if not self.alternatives:
            return self.opening + self.quantifier
        inside = "|".join("".join(item.source for item in sequence) for sequence in self.alternatives)
        return f"{self.opening}{inside}){self.quantifier}"

    @property
    def may_be_missing(self) -> bool:
        """Whether a text need not have it."""
        return self.quantifier[:1] in {"*", "?"}

    @property
    def is_gap(self) -> bool:
        """Whether it stands for a stretch of any length, in which almost anything may be."""
        return self.quantifier[:1] in {"*", "+"} and not self.alternatives and _GAP.fullmatch(self.opening) is not None

    @property
    def has_gap(self) -> bool:
        """Whether it is such a stretch or has one in it."""
        return self.is_gap or any(item.has_gap for sequence in self.alternatives for item in sequence)


class NotUnderstood(Exception):
    """The pattern has something in it that this module does not read."""


def read_pattern(source: str) -> tuple[str, tuple[tuple[Item, ...], ...]]:
    """The flags at a pattern's head, and its alternatives. Raises NotUnderstood.

    Counted repetitions have been loosened to `*` and `+` before.
    """
    head = _HEAD.match(source)
    flags = head.group() if head else ""
    tokens = _TOKEN.findall(source[len(flags) :])
    alternatives, at = _read_alternatives(tokens, 0)
    if at != len(tokens):
        raise NotUnderstood
    return flags, alternatives


def _read_alternatives(tokens: Sequence[str], at: int) -> tuple[tuple[tuple[Item, ...], ...], int]:
    """The alternatives from here to the end of the group, and where that is."""
    alternatives: list[list[Item]] = [[]]
    while at < len(tokens) and tokens[at] != ")":
        token = tokens[at]
        at += 1
        if token == "|":
            alternatives.append([])
            continue
        inside: tuple[tuple[Item, ...], ...] = ()
        if token.startswith("("):
            inside, at = _read_group(token, tokens, at)
        elif token == "\\Q" or _QUANTIFIER.fullmatch(token):
            raise NotUnderstood
        quantifier = tokens[at] if at < len(tokens) and _QUANTIFIER.fullmatch(tokens[at]) else ""
        at += bool(quantifier)
        alternatives[-1].append(Item(token, inside, quantifier))
    return tuple(map(tuple, alternatives)), at


def _read_group(opening: str, tokens: Sequence[str], at: int) -> tuple[tuple[tuple[Item, ...], ...], int]:
    """What is in a group. One that only sets flags for what follows is more than is understood."""
    if opening == "(" and tokens[at : at + 1] == ["?"]:
        raise NotUnderstood
    inside, at = _read_alternatives(tokens, at)
    if at == len(tokens):
        raise NotUnderstood
    return inside, at + 1
