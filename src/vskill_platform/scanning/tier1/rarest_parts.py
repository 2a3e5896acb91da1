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

from vskill_platform.scanning.tier1.pattern_items import Item, NotUnderstood, read_pattern

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
_RANGE = re.compile(r"(\\?.)-(\\?.)|\\?.", re.DOTALL)


class Part(NamedTuple):
    """A piece of a pattern, and how much it tells, in bits, that a text has it."""

    source: str
    bits: float


def rarest_part(source: str) -> str | None:
    """A pattern without gaps that matches wherever this one does and seldom elsewhere; None where there is none.

    Counted repetitions have been loosened to `*` and `+` before.
    """
    try:
        flags, alternatives = read_pattern(source)
    except NotUnderstood:
        return None
    part = _rarest_of_all(alternatives)
    return flags + part.source if part.bits >= LEAST_BITS else None


def _rarest_of_all(alternatives: Sequence[Sequence[Item]]) -> Part:
    """One part of each alternative, since any of them may be what matches."""
    parts = [max(_parts(sequence), key=lambda part: part.bits) for sequence in alternatives]
    source = "|".join(dict.fromkeys(part.source for part in parts))
    return Part(source if len(parts) == 1 else f"(?:{source})", _bits_of_any(part.bits for part in parts))


def _parts(sequence: Sequence[Item]) -> Iterator[Part]:
    """What must stand in a text for the sequence to match: the runs between its gaps, and the rarest inside its groups."""
    run: list[Item] = []
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


def _joined(run: Sequence[Item]) -> Part:
    return Part("".join(item.source for item in run), _bits(run))


def _flags_of(opening: str) -> str:
    """What a group is opened with, without its name."""
    return opening if opening.endswith(":") else "(?:"


def _bits(sequence: Sequence[Item]) -> float:
    """How much a sequence tells: as much as its words do, and all that is between them."""
    bits, word = 0.0, ""
    for item in sequence:
        if item.opening.isalpha() and not item.quantifier:
            word += item.opening
        else:
            bits += _bits_of_word(word) + _bits_of_item(item)
            word = ""
    return bits + _bits_of_word(word)


def _bits_of_item(item: Item) -> float:
    if item.may_be_missing:
        return 0.0
    return _bits_of_any(map(_bits, item.alternatives)) if item.alternatives else _bits_of_one(item.opening)


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
