"""A word of shell in its parts, and what it reads as when they are put together."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from vskill_platform.scanning.tier1.views.collage import Change
from vskill_platform.scanning.tier1.views.shell_values import braces, program_of_glob

_EXPANDS = re.compile(rb"[{?*\[]")
_PROGRAM = re.compile(rb"[a-z][a-z0-9._+-]+")


@dataclass
class Part:
    """A part of a word. `is_quoting` says that it differs from what is written by its quotes alone."""

    value: bytes
    change: Change
    is_quoting: bool = False
    is_known: bool = True
    is_variable: bool = False
    is_bare: bool = False


@dataclass
class Word:
    """Parts without a gap between them."""

    start: int
    starts_command: bool
    parts: list[Part] = field(default_factory=list)
    end: int = 0

    @property
    def value(self) -> bytes:
        """What the shell makes of the word."""
        return b"".join(part.value for part in self.parts)

    @property
    def is_plain(self) -> bool:
        """Whether it is written as it reads."""
        part = self.parts[0]
        return len(self.parts) == 1 and part.is_bare and not _EXPANDS.search(part.value)

    @property
    def is_known(self) -> bool:
        """Whether all of it is constant."""
        return all(part.is_known for part in self.parts)


def finished(word: Word) -> tuple[bytes, Change]:
    """What a word reads as, and what that says of it."""
    parts = _without_empty_parameters(word.parts)
    value = b"".join(part.value for part in parts)
    change = max((part.change for part in parts), default=Change.NONE)
    if _is_split(parts) or (word.starts_command and _is_quoted_program(parts)):
        change = Change.TRICK
    if b"{" in value and b"," in value and not any(part.is_quoting and b"," in part.value for part in parts):
        expanded = braces(value)
        if len(expanded) > 1:
            is_command = word.starts_command and value.startswith(b"{")
            value, change = b" ".join(map(_program, expanded)), max(change, Change(1 + is_command))
    if program := program_of_glob(value):
        value, change = program, Change.TRICK
    return value, change


def _program(word: bytes) -> bytes:
    return program_of_glob(word) or word


def _without_empty_parameters(parts: list[Part]) -> list[Part]:
    """The parts without `$@` and its like between letters, where they stand for nothing."""
    kept: list[Part] = []
    for number, part in enumerate(parts):
        is_between = 0 < number < len(parts) - 1 and part.is_variable and not part.is_known
        before = parts[number - 1].value[-1:] if is_between else b""
        is_empty = before == b" " or (before.isalnum() and parts[number + 1].value[:1].isalnum())
        kept.append(Part(b"", Change.TRICK) if is_empty else part)
    return kept


def _is_split(parts: list[Part]) -> bool:
    """Whether quotes, a line's end or several variables meet in the middle of a word."""
    filled = [part for part in parts if part.value]
    has_empty = len(filled) < len(parts) and len(filled) > 1
    for left, right in pairwise(filled):
        if not meet(left, right):
            continue
        if left.is_variable and right.is_variable:
            return True
        if not (left.is_variable or right.is_variable) and (has_empty or _is_quote_in_word(left, right)):
            return True
    first_is_empty = bool(parts) and not parts[0].value and parts[0].is_quoting
    return first_is_empty and len(filled) > 0 and not filled[0].is_quoting and filled[0].value[:1].isalpha()


def meet(left: Part, right: Part) -> bool:
    """Whether one word goes on from one part to the next, as far as both are known."""
    return left.value[-1:].isalnum() and right.value[:1].isalnum() and left.is_known and right.is_known


def _is_quote_in_word(left: Part, right: Part) -> bool:
    quoted = [part for part in (left, right) if part.is_quoting]
    return bool(quoted) and not any(b" " in part.value for part in quoted)


def _is_quoted_program(parts: list[Part]) -> bool:
    return len(parts) == 1 and parts[0].is_quoting and _PROGRAM.fullmatch(parts[0].value) is not None
