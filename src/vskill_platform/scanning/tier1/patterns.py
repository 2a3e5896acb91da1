"""A typed face of google-re2: patterns that take linear time on any input, one at a time or many in one pass.

Everything here works on UTF-8 bytes, because that is what the engine works on; offsets are offsets of bytes. Given text it
would encode it anew for every pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence
from functools import cache
from itertools import accumulate, pairwise, repeat
from typing import NamedTuple, Protocol

import re2  # type: ignore[import-untyped]
from re2 import _re2

from vskill_platform.domain.errors import InvalidRules
from vskill_platform.scanning.tier1.compiled_sets import find_compiled, shown
from vskill_platform.scanning.tier1.one_blank import sketch, with_one_blank
from vskill_platform.scanning.tier1.rarest_parts import rarest_part

PATTERN_MEMORY = 2 * 1024 * 1024
"""Bytes that one pattern may use. All patterns of a ruleset together stay far below the memory of a scanning process."""
ROOMY = 8 * 1024 * 1024
"""Bytes for the few patterns that every text is searched with and that have more states than fit into less."""
SET_MEMORY = 16 * 1024 * 1024
GROUP_SIZE = 8
GROUP_WITHOUT_GAPS = 40
_GAP = re.compile(r"(?:\[\^[^\]]*\]|\.|\\S)[*+]")
"""A gap of any length, in which almost anything may stand."""
_TOKEN = re.compile(
    r"\\[xpP]\{[^}]*\}"
    r"|\\Q.*?(?:\\E|\Z)"
    r"|\\."
    r"|\[\^?\]?(?:\\[xpP]\{[^}]*\}|\\.|\[:\^?\w+:\]|[^\]\\])*\]"
    r"|\{(?P<least>\d+)(?:,\d*)?\}"
    r"|[^\\\[{]+|.",
    re.DOTALL,
)
"""Escapes, quoted text and classes of characters, whose braces are no repetitions; repetitions; everything else."""


class Span(NamedTuple):
    """Where a pattern matched: offsets of bytes."""

    start: int
    end: int


class _Engine(Protocol):
    """What is used of the engine's own compiled pattern. The face it shows to Python costs more than most searches do."""

    def ok(self) -> bool: ...

    def error(self) -> bytes: ...

    def Match(self, anchor: object, data: bytes, start: int, end: int) -> list[tuple[int, int]]: ...  # noqa: N802

    def NumberOfCapturingGroups(self) -> int: ...  # noqa: N802

    def ProgramSize(self) -> int: ...  # noqa: N802


known_sets: list[tuple[str, ...]] = []
"""The patterns of every set that was made in this process, for `compile-rules`."""
_ANYWHERE = _re2.RE2.Anchor.UNANCHORED
_NOWHERE = (-1, -1)
_Match = Callable[[bytes], list[int]]
"""The way to ask which patterns of a set may match a text."""


class Pattern:
    """One compiled pattern. Raises InvalidRules for a text that the engine does not take."""

    __slots__ = ("_engine", "_groups", "_match")

    def __init__(self, source: str, *, memory: int = PATTERN_MEMORY) -> None:
        self._engine: _Engine = _re2.RE2(source.encode(), _options(memory))
        if not self._engine.ok():
            reason = self._engine.error().decode(errors="replace") or "it does not compile"
            raise InvalidRules(f"google-re2 does not take the pattern: {reason}.", pattern=source)
        self._match = self._engine.Match
        self._groups = range(1, self._engine.NumberOfCapturingGroups() + 1)

    @property
    def program_size(self) -> int:
        """How many instructions the pattern compiles to; a measure of its cost."""
        return self._engine.ProgramSize()

    def is_in(self, data: bytes, *, start: int = 0, end: int | None = None) -> bool:
        """Whether the pattern matches anywhere between these offsets."""
        stop = len(data) if end is None else min(end, len(data))
        return start <= stop and self._match(_ANYWHERE, data, start, stop)[0] != _NOWHERE

    def spans(self, data: bytes) -> Iterator[Span]:
        """Every match that does not overlap the one before, from left to right."""
        return (Span(*found[0]) for found in self._matches(data))

    def groups(self, data: bytes) -> Iterator[str]:
        """What the first group that took part caught, match by match."""
        for found in self._matches(data):
            span = next((found[group] for group in self._groups if found[group][0] >= 0), None)
            if span is not None:
                yield data[span[0] : span[1]].decode(errors="replace")

    def _matches(self, data: bytes) -> Iterator[list[tuple[int, int]]]:
        """Every match with its groups. Behind an empty match the search goes on one byte further."""
        match, end, at = self._match, len(data), 0
        while (found := match(_ANYWHERE, data, at, end))[0] != _NOWHERE:
            yield found
            if at == end:
                return
            stop = found[0][1]
            at = stop if stop != at else at + 1


class PatternSet:
    """Many patterns in few passes: says which of them may match somewhere, never leaving out one that does.

    A pass costs the same for many patterns as for one, as long as the engine can keep what it has learnt of them in memory.
    Gaps break that, because each gap that a text is in doubles what has to be remembered: sixty of our patterns in one set,
    as they stand, fill any memory and come down to 1 MB/s. So each pattern is looked for by its rarest part, which has no
    gaps, and the few whose part is there are tried one at a time. Those without such a part go in small groups.

    All that is of google-re2. Where hyperscan has compiled the set ahead (`compiled_sets.py`), one pass of it does the same.
    For a large set a text is worth a copy with one blank between words (`one_blank.py`): `in_order` then has the numbers of the
    patterns of which all parts are looked for, in their order. Those from `own_from` on are an operator's own, which nobody
    compiles ahead.
    """

    __slots__ = ("_ahead", "_all", "_is_sketched", "_numbers", "_rest", "_wanted")

    def __init__(
        self,
        sources: Sequence[str],
        *,
        has_gaps: bool = True,
        groups: Sequence[int] = (),
        group_size: int = GROUP_SIZE,
        own_from: int | None = None,
        in_order: Container[int] | None = None,
    ) -> None:
        loose = list(map(loosened, sources)) if has_gaps else sources
        self._is_sketched = in_order is not None
        self._wanted = [_wanted(number, source, has_gaps=has_gaps) for number, source in enumerate(loose)]
        ahead = {one.number: one.part for one in self._wanted[:own_from]}
        if in_order is not None:
            ahead = _sketches(self._wanted[:own_from], in_order)
        self._numbers = tuple(ahead)
        bundled = tuple(ahead.values())
        known_sets.append(bundled)
        self._ahead = find_compiled(bundled)
        self._all = _passes(self._wanted, groups=groups, size=group_size)
        left_out = {self._numbers[at] for at in self._ahead.left_out} if self._ahead else set[int]()
        rest = [one for one in self._wanted if one.number in left_out or one.number not in ahead]
        self._rest = _passes(rest, size=group_size)

    def which(self, data: bytes) -> list[int]:
        """The numbers of the patterns that may match, in ascending order."""
        return self.which_of_each([data])[0]

    def which_of_each(self, texts: Sequence[bytes], among: Sequence[Container[int]] = ()) -> list[list[int]]:
        """The same for each text, where `among` is given only of those numbers; pass by pass, while its states are at hand."""
        seen = self._seen_in_each(texts)
        return [
            sorted(one.number for one, is_sure in some if one.number in asked and one.is_in(data, is_seen=is_sure))
            for data, some, asked in zip(texts, seen, among or repeat(range(len(self._wanted))), strict=False)
        ]

    def _seen_in_each(self, texts: Sequence[bytes]) -> list[list[_Seen]]:
        """What was seen in each text of the patterns, and whether for sure."""
        found: list[list[_Seen]] = [[] for _ in texts]
        as_shown = [None if self._ahead is None else shown(data) for data in texts]
        for data, some, plain in zip(texts, found, as_shown, strict=True):
            if self._ahead is not None and plain is not None:
                text = with_one_blank(plain) if self._is_sketched else plain
                seen = [self._wanted[self._numbers[at]] for at in self._ahead.which(text)]
                is_sure = data is plain and not self._is_sketched
                some += [(one, is_sure or (not self._is_sketched and one.part.isascii())) for one in seen]
        for each in self._rest if self._ahead else ():
            each.add(found, texts, [plain is not None for plain in as_shown])
        if None in as_shown:
            for each in self._all:
                each.add(found, texts, [plain is None for plain in as_shown])
        return found


class _Wanted(NamedTuple):
    """A pattern of a set: its number there, what it is looked for by, and all of it where that is more."""

    number: int
    part: str
    whole: str | None
    is_quick: bool

    def is_in(self, data: bytes, *, is_seen: bool) -> bool:
        """Whether a text has it, given whether its part was seen for sure."""
        if self.whole is not None:
            return compile_pattern(self.whole).is_in(data)
        return is_seen or compile_pattern(self.part).is_in(data)


_Seen = tuple[_Wanted, bool]
"""A pattern whose part was seen in a text, and whether that is for sure."""


class _Pass:
    """Patterns that google-re2 looks for together, made ready when a text first needs it."""

    __slots__ = ("_match", "_wanted")

    def __init__(self, wanted: Sequence[_Wanted]) -> None:
        self._wanted = wanted
        self._match: _Match | None = None

    def add(self, found: Sequence[list[_Seen]], texts: Sequence[bytes], is_asked: Sequence[bool]) -> None:
        """Add what a text may have to what was found in it, text by text."""
        match = self._match = self._match or _compile_set([one.part for one in self._wanted])
        for data, some, is_one in zip(texts, found, is_asked, strict=True):
            if is_one:
                some += [(self._wanted[at], True) for at in match(data)]


def _wanted(number: int, source: str, *, has_gaps: bool) -> _Wanted:
    if not has_gaps or not _GAP.search(source):
        return _Wanted(number, source, None, is_quick=has_gaps)
    part = rarest_part(source)
    return _Wanted(number, part or source, part and source, is_quick=part is not None)


def _sketches(wanted: Sequence[_Wanted], in_order: Container[int]) -> dict[int, str]:
    """What hyperscan looks for in place of each pattern that can be understood: a part of it, or all of its parts in order."""
    chosen = {one.number: (one.number in in_order and one.whole) or one.part for one in wanted}
    sketches = {number: sketch(source) for number, source in chosen.items()}
    return {number: found for number, found in sketches.items() if found is not None}


def _passes(wanted: Sequence[_Wanted], *, groups: Sequence[int] = (), size: int) -> list[_Pass]:
    """The passes for these patterns: groups of the sizes that are given, or else equal ones, the larger for what has no gaps."""
    if groups:
        ends = list(accumulate(groups))
        return [_Pass(wanted[start:end]) for start, end in pairwise([0, *ends])]
    sorts = (
        ([one for one in wanted if not one.is_quick], size),
        ([one for one in wanted if one.is_quick], GROUP_WITHOUT_GAPS),
    )
    return [_Pass(sort[first : first + most]) for sort, most in sorts for first in range(0, len(sort), most)]


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


def _compile_set(sources: Sequence[str]) -> _Match:
    group = _re2.Set(_ANYWHERE, _options(SET_MEMORY))
    if any(group.Add(source.encode()) < 0 for source in sources) or not group.Compile():
        raise InvalidRules("Some patterns together need more memory than they may have. Make the largest smaller.")
    match: _Match = group.Match
    return match


def _options(memory: int) -> re2.Options:
    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    return options
