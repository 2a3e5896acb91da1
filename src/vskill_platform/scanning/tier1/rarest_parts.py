"""The rarest part of a pattern: a text without it cannot match, and one small part is looked for faster than the whole.

A pattern that goes over gaps makes the engine remember which gaps it is in, so that few such patterns fit into one pass. Its
parts between the gaps do not. This module splits a pattern there, in every alternative, and chooses the part that ordinary
text has least often. What it does not understand it leaves whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import log2
from typing import NamedTuple

LEAST_BITS = 6.0
"""A part that says less than this occurs in most texts: it would only cost a pass."""
LETTER_BITS, SIGN_BITS = 2.0, 5.0
"""How much an English letter tells, of which a word has several, and how much any other character."""
_ESCAPE_BITS = {
    "s": 2.5,
    "w": 0.3,
    "d": 4.0,
    "b": 0.5,
    "S": 0.2,
    "D": 0.0,
    "W": 2.0,
    "B": 0.5,
    "n": 5.0,
    "A": 5.0,
    "z": 5.0,
}
_SIGNS_OF_LAYOUT = frozenset("-|:/")
_COMMON_WORDS = frozenset(
    re.findall(
        r"\w+",
        "all and any archive file files for from function http https in into of or send set text the then to token use user "
        "with without your",
    )
)
"""Words that tell hardly anything: every third text has them."""
_HEAD = re.compile(r"\(\?[a-zA-Z-]+\)")
_TOKEN = re.compile(
    r"\\[xpP]\{[^}]*\}|\\[pP].|\\.|\[\^?\]?(?:\\[xpP]\{[^}]*\}|\\.|\[:\^?\w+:\]|[^\]\\])*\]"
    r"|\(\?P?<\w+>|\(\?[a-zA-Z-]*:|\(|\)|\||[*+?]\??|[a-zA-Z]+(?![*+?])|.",
    re.DOTALL,
)
"""Letters are read together, but for one that is repeated."""
_QUANTIFIER = re.compile(r"[*+?]\??")
_GAP = re.compile(r"\[\^.*\]|\.|\\S", re.DOTALL)
_RANGE = re.compile(r"(\\?.)-(\\?.)|\\?.", re.DOTALL)


class Part(NamedTuple):
    """A piece of a pattern, and how much it tells, in bits, that a text has it."""

    source: str
    bits: float


class _Item(NamedTuple):
    """One thing of a sequence: letters, a character, a class or a group, and how often it stands there."""

    opening: str
    alternatives: tuple[tuple[_Item, ...], ...]
    quantifier: str

    @property
    def source(self) -> str:
        if not self.alternatives:
            return self.opening + self.quantifier
        inside = "|".join("".join(item.source for item in sequence) for sequence in self.alternatives)
        return f"{self.opening}{inside}){self.quantifier}"

    @property
    def may_be_missing(self) -> bool:
        return self.quantifier[:1] in {"*", "?"}

    @property
    def is_gap(self) -> bool:
        return self.quantifier[:1] in {"*", "+"} and not self.alternatives and _GAP.fullmatch(self.opening) is not None

    @property
    def has_gap(self) -> bool:
        return self.is_gap or any(item.has_gap for sequence in self.alternatives for item in sequence)

    @property
    def bits(self) -> float:
        if self.may_be_missing:
            return 0.0
        return _bits_of_any(map(_bits, self.alternatives)) if self.alternatives else _bits_of_one(self.opening)


class _NotUnderstood(Exception):
    """The pattern has something in it that this module does not read."""


def rarest_part(source: str) -> str | None:
    """A pattern without gaps that matches wherever this one does and seldom elsewhere; None where there is none.

    Counted repetitions have been loosened to `*` and `+` before.
    """
    head = _HEAD.match(source)
    flags = head.group() if head else ""
    try:
        part = _rarest_of_all(_read(source[len(flags) :]))
    except _NotUnderstood:
        return None
    return flags + part.source if part.bits >= LEAST_BITS else None


def _rarest_of_all(alternatives: Sequence[Sequence[_Item]]) -> Part:
    """One part of each alternative, since any of them may be what matches."""
    parts = [max(_parts(sequence), key=lambda part: part.bits) for sequence in alternatives]
    source = "|".join(part.source for part in parts)
    return Part(source if len(parts) == 1 else f"(?:{source})", _bits_of_any(part.bits for part in parts))


def _parts(sequence: Sequence[_Item]) -> Iterator[Part]:
    """What must stand in a text for the sequence to match: the runs between its gaps, and the rarest inside its groups."""
    run: list[_Item] = []
    for item in sequence:
        if not item.has_gap:
            run.append(item)
            continue
        yield _joined(run)
        run = []
        if item.alternatives and not item.may_be_missing:
            inner = _rarest_of_all(item.alternatives)
            yield Part(f"{_flags_of(item.opening)}{inner.source})", inner.bits)
    yield _joined(run)


def _joined(run: Sequence[_Item]) -> Part:
    return Part("".join(item.source for item in run), _bits(run))


def _flags_of(opening: str) -> str:
    """What a group is opened with, without its name."""
    return opening if opening.endswith(":") else "(?:"


def _bits(sequence: Sequence[_Item]) -> float:
    """How much a sequence tells: as much as its words do, and all that is between them."""
    bits, word = 0.0, ""
    for item in sequence:
        if item.opening.isalpha() and not item.quantifier:
            word += item.opening
        else:
            bits += _bits_of_word(word) + item.bits
            word = ""
    return bits + _bits_of_word(word)


def _bits_of_word(word: str) -> float:
    if not word.isascii():
        return len(word) * SIGN_BITS
    return 1.0 if word.lower() in _COMMON_WORDS else len(word) * LETTER_BITS


def _bits_of_any(bits: Iterable[float]) -> float:
    """How much it tells that one of several things stands in a text."""
    return -log2(min(1.0, sum(2.0**-one for one in bits)))


def _bits_of_one(token: str) -> float:
    if token.startswith("["):
        return 0.0 if token.startswith("[^") else max(0.2, SIGN_BITS - log2(max(1, _members(token[1:-1]))))
    if token.startswith("\\") and len(token) > 1:
        return _ESCAPE_BITS.get(token[1], SIGN_BITS)
    if token in _SIGNS_OF_LAYOUT:
        return 1.0
    return 0.0 if token == "." else SIGN_BITS


def _members(inside: str) -> int:
    """About how many characters a class has."""
    count = 0
    for found in _RANGE.finditer(inside):
        first, last = found.groups()
        if first and last:
            count += max(1, ord(last[-1]) - ord(first[-1]) + 1)
        else:
            count += 60 if found.group() in {"\\w", "\\S", "\\p", "\\P", "\\x"} else 10 if found.group() == "\\d" else 1
    return count


def _read(source: str) -> tuple[tuple[_Item, ...], ...]:
    tokens = _TOKEN.findall(source)
    alternatives, at = _read_alternatives(tokens, 0)
    if at != len(tokens):
        raise _NotUnderstood
    return alternatives


def _read_alternatives(tokens: Sequence[str], at: int) -> tuple[tuple[tuple[_Item, ...], ...], int]:
    """The alternatives from here to the end of the group, and where that is."""
    alternatives: list[list[_Item]] = [[]]
    while at < len(tokens) and tokens[at] != ")":
        token = tokens[at]
        at += 1
        if token == "|":
            alternatives.append([])
            continue
        inside: tuple[tuple[_Item, ...], ...] = ()
        if token.startswith("("):
            inside, at = _read_group(token, tokens, at)
        elif token == "\\Q" or _QUANTIFIER.fullmatch(token):
            raise _NotUnderstood
        quantifier = tokens[at] if at < len(tokens) and _QUANTIFIER.fullmatch(tokens[at]) else ""
        at += bool(quantifier)
        alternatives[-1].append(_Item(token, inside, quantifier))
    return tuple(map(tuple, alternatives)), at


def _read_group(opening: str, tokens: Sequence[str], at: int) -> tuple[tuple[tuple[_Item, ...], ...], int]:
    """What is in a group. One that only sets flags for what follows is more than is understood."""
    if opening == "(" and tokens[at : at + 1] == ["?"]:
        raise _NotUnderstood
    inside, at = _read_alternatives(tokens, at)
    if at == len(tokens):
        raise _NotUnderstood
    return inside, at + 1
