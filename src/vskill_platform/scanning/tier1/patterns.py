"""A typed face of google-re2: patterns that take linear time on any input, one at a time or many in one pass.

Everything here works on UTF-8 bytes, because that is what the engine works on; offsets are offsets of bytes. Given text it
would encode it anew for every pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple, Protocol

import re2  # type: ignore[import-untyped]

from vskill_platform.domain.errors import InvalidRules

PATTERN_MEMORY = 2 * 1024 * 1024
"""Bytes that one pattern may use. All patterns of a ruleset together stay far below the memory of a scanning process."""
SET_MEMORY = 16 * 1024 * 1024
GROUP_SIZE = 8
_TOKEN = re.compile(
    r"\\[xpP]\{[^}]*\}"
    r"|\\Q.*?(?:\\E|\Z)"
    r"|\\."
    r"|\[\^?\]?(?:\\[xpP]\{[^}]*\}|\\.|\[:\^?\w+:\]|[^\]\\])*\]"
    r"|\{(?P<least>\d+)(?:,\d*)?\}"
    r"|.",
    re.DOTALL,
)
"""Escapes, quoted text and classes of characters, whose braces are no repetitions; repetitions; everything else."""


class Span(NamedTuple):
    """Where a pattern matched: offsets of bytes."""

    start: int
    end: int


class _Match(Protocol):
    def span(self, group: int = 0) -> tuple[int, int]: ...


class _Regexp(Protocol):
    groups: int
    programsize: int

    def search(self, text: bytes, pos: int | None = None, endpos: int | None = None) -> _Match | None: ...

    def finditer(self, text: bytes, pos: int | None = None, endpos: int | None = None) -> Iterator[_Match]: ...


class Pattern:
    """One compiled pattern. Raises InvalidRules for a text that the engine does not take."""

    __slots__ = ("_groups", "_regexp")

    def __init__(self, source: str, *, memory: int = PATTERN_MEMORY) -> None:
        try:
            self._regexp: _Regexp = re2.compile(source, _options(memory))
        except re2.error as exc:
            reason = exc.args[0] if exc.args else "it does not compile"
            text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
            raise InvalidRules(f"google-re2 does not take the pattern: {text}.", pattern=source) from exc
        self._groups = range(1, self._regexp.groups + 1)

    @property
    def program_size(self) -> int:
        """How many instructions the pattern compiles to; a measure of its cost."""
        return self._regexp.programsize

    def is_in(self, data: bytes, *, start: int = 0, end: int | None = None) -> bool:
        """Whether the pattern matches anywhere between these offsets."""
        return self._regexp.search(data, start, end) is not None

    def spans(self, data: bytes) -> Iterator[Span]:
        """Every match that does not overlap the one before, from left to right."""
        return (Span(*match.span()) for match in self._regexp.finditer(data))

    def groups(self, data: bytes) -> Iterator[str]:
        """What the first group that took part caught, match by match."""
        for match in self._regexp.finditer(data):
            span = next((span for span in map(match.span, self._groups) if span[0] >= 0), None)
            if span is not None:
                yield data[span[0] : span[1]].decode(errors="replace")


class PatternSet:
    """Many patterns in few passes: says which of them may match somewhere, never leaving out one that does.

    A pass costs the same for eight patterns as for one, as long as the engine can keep what it has learnt of them in memory.
    Counted gaps and too many patterns at once break that: sixty of our patterns in one set, as they stand, fill any memory
    and come down to 1 MB/s. So the gaps are loosened first, and the patterns go in groups.
    """

    __slots__ = ("_sets",)

    def __init__(self, sources: Sequence[str], *, has_gaps: bool = True) -> None:
        loose = list(map(loosened, sources)) if has_gaps else sources
        groups = [loose[start : start + GROUP_SIZE] for start in range(0, len(loose), GROUP_SIZE)]
        self._sets = [_compile_set(group) for group in groups]

    def which(self, data: bytes) -> list[int]:
        """The numbers of the patterns that may match, in ascending order."""
        found = (
            number * GROUP_SIZE + index for number, group in enumerate(self._sets) for index in group.Match(data) or ()
        )
        return sorted(found)


@cache
def compile_pattern(source: str) -> Pattern:
    """The compiled pattern, made once: what the loader has checked is what the matcher uses."""
    return Pattern(source)


def loosened(source: str) -> str:
    """A pattern that matches at least where this one does, with `*` and `+` in place of counted repetitions."""
    return _TOKEN.sub(_loosen_token, source)


def _loosen_token(token: re.Match[str]) -> str:
    least = token.group("least")
    if least is None:
        return token.group()
    return "*" if int(least) == 0 else "+"


def _compile_set(sources: Sequence[str]) -> re2.Set:
    group = re2.Set.SearchSet(_options(SET_MEMORY))
    try:
        for source in sources:
            group.Add(source)
        group.Compile()
    except re2.error as exc:
        raise InvalidRules(
            "Some patterns together need more memory than they may have. Make the largest smaller."
        ) from exc
    return group


def _options(memory: int) -> re2.Options:
    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    return options
