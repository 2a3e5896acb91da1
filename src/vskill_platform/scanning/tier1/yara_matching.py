"""Finds the places where YARA rules hit. They see the bytes of each file as they are, whatever kind of file it is."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property

from vskill_platform.scanning.limits import YARA_TIME_LIMIT
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import UTF16_MARKS
from vskill_platform.scanning.tier1.matching import line_around
from vskill_platform.scanning.tier1.patterns import Span
from vskill_platform.scanning.tier1.rules import Ruleset
from vskill_platform.scanning.tier1.skill import (
    BYTE_ORDER_MARK,
    FileUnderScan,
    Hit,
    LimitHit,
    Observation,
    SkillUnderScan,
)
from vskill_platform.scanning.tier1.yara import YaraMatch, YaraTimedOut
from vskill_platform.scanning.tier1.yara_rules import yara_rule_id

LAYER = "yara"
LONGEST_LEAD = 20_000
"""Bytes of a line up to which characters are counted; beyond them a column is near enough."""
LONGEST_EXCERPT = 400
_line_end = re.compile(rb"\r\n|\r|\n")


def yara_analyser(skill: SkillUnderScan) -> Iterator[Observation]:
    """Where the operator's YARA rules hit. A search that takes too long is the last one, and the report says so."""
    if skill.ruleset.yara is None:
        return
    for file in skill.files:
        try:
            matches = skill.ruleset.yara.search(file.content)
        except YaraTimedOut:
            yield LimitHit(YARA_TIME_LIMIT)
            return
        places = _Places(file)
        for match in matches:
            if _is_in_force(yara_rule_id(match.name), skill.ruleset):
                yield from _hits(match, places, most=skill.limits.max_places)


def _is_in_force(rule_id: str, ruleset: Ruleset) -> bool:
    """Whether a match counts. One of a rule that nobody has read about is a fault, never a match that does not count."""
    if rule_id in ruleset.rules:
        return True
    if rule_id in ruleset.off:
        return False
    raise LookupError(f"{rule_id} matches and is not known")


def _hits(match: YaraMatch, places: _Places, *, most: int) -> Iterator[Hit]:
    rule_id, path = yara_rule_id(match.name), places.file.path
    if not match.places:
        yield Hit(rule_id, path, 0, 0, "", LAYER)
    for start, end in match.places[:most]:
        line, column = places.locate(start)
        yield Hit(rule_id, path, line, column, places.excerpt(Span(start, end)), LAYER)


class _Places:
    """Leads from an offset in a file's bytes to line and column. Costs nothing until the first question."""

    def __init__(self, file: FileUnderScan) -> None:
        self.file = file
        self._has_lines = file.has_places and not file.content.startswith(UTF16_MARKS)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in _line_end.finditer(self.file.content))]

    def locate(self, offset: int) -> tuple[int, int]:
        """Line and column; 0 and 0 in a file whose bytes have none."""
        if not self._has_lines:
            return 0, 0
        row = bisect_right(self._starts, offset) - 1
        start = self._starts[row]
        lead = offset - start
        return row + 1, 1 + (lead if lead > LONGEST_LEAD else len(self._text(start, offset)))

    def excerpt(self, span: Span) -> str:
        """The line around a match; of what has no lines, the match itself."""
        if not self._has_lines:
            return make_excerpt(self._text(span.start, min(span.end, span.start + LONGEST_EXCERPT)).replace("\0", ""))
        start, end = line_around(self.file.content, span)
        before = self._text(start, span.start)
        return make_excerpt(before + self._text(span.start, min(end, span.start + LONGEST_LEAD)), start=len(before))

    def _text(self, start: int, end: int) -> str:
        return self.file.content[start:end].decode(errors="replace").removeprefix(BYTE_ORDER_MARK)
