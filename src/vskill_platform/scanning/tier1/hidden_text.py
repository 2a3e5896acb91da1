"""Checks for characters that people do not see and models read.

Ordinary use stays allowed: joiners inside emoji and inside scripts that need them, flags, and a byte order mark at the head
of a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import NO_TEXT
from vskill_platform.scanning.tier1.letters import is_of_text
from vskill_platform.scanning.tier1.skill import FileUnderScan, SkillUnderScan
from vskill_platform.scanning.tier1.structure import Place, Seen
from vskill_platform.scanning.tier1.views.view import once_a_skill

_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f")
_TAGS = re.compile("[\U000e0000-\U000e007f]")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_NO_WIDTH = re.compile("[\u00ad\u200b-\u200d\u2060-\u2064\ufeff]")
_ZERO_WIDTH = re.compile(
    "(?<=[0-9A-Za-z])[\u00ad\u200b-\u200d\u2060\ufeff]+(?=[0-9A-Za-z])|[\u200b-\u200d\u2060-\u2064\ufeff]{4}"
)
_APART = re.compile("(?<=[A-Za-z])[\u200b-\u200d\u2060-\u2064\ufeff]+(?=[A-Za-z ])")
FEWEST_APART = 8
"""Letters of one line that are parted from the next by something without width. A long address is parted at a few places."""
_ANY_JOINER = re.compile("[\u200c\u200d\u2060-\u2064\u180e]")
_JOINERS = re.compile("(?<=[A-Za-z])[\u200c\u200d\u2060-\u2064\u180e]+(?=[A-Za-z])")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}")


def tag_characters(skill: SkillUnderScan) -> Seen:
    """Letters of the tag block, which no screen shows, outside the flags that they are for."""
    for file in _suspects(skill, _TAGS):
        flags = [found.span() for found in _FLAG.finditer(file.text)]
        yield from islice(_places(file, _TAGS, allowed=flags), skill.limits.max_places)


def direction_controls(skill: SkillUnderScan) -> Seen:
    """Characters that make text look as if it stood in another order."""
    for file in _suspects(skill, _BIDI):
        yield from islice(_places(file, _BIDI), skill.limits.max_places)


def zero_width_characters(skill: SkillUnderScan) -> Seen:
    """Characters without width inside Latin words, or many of them in a row."""
    for file in _suspects(skill, _NO_WIDTH):
        yield from islice(_places(file, _ZERO_WIDTH), skill.limits.max_places)


def words_taken_apart(skill: SkillUnderScan) -> Seen:
    """Lines whose words are taken apart, letter by letter, by characters without width."""
    for file in _suspects(skill, _NO_WIDTH):
        numbers = (number for number, line in enumerate(file.lines, start=1) if _is_taken_apart(line))
        for number in islice(numbers, skill.limits.max_places):
            yield Place(file.path, number, 1, make_excerpt(file.lines[number - 1], start=0))


def _is_taken_apart(line: str) -> bool:
    return not line.isascii() and sum(1 for _ in islice(_APART.finditer(line), FEWEST_APART)) == FEWEST_APART


def joiner_in_word(skill: SkillUnderScan) -> Seen:
    """Characters inside Latin words that join or separate what Latin letters never are."""
    for file in _suspects(skill, _ANY_JOINER):
        yield from islice(_places(file, _JOINERS), skill.limits.max_places)


def variation_selectors(skill: SkillUnderScan) -> Seen:
    """Several variation selectors in a row, which vary nothing and can carry bytes."""
    for file in _suspects(skill, _SELECTORS):
        yield from islice(_places(file, _SELECTORS), skill.limits.max_places)


def _suspects(skill: SkillUnderScan, signs: re.Pattern[str]) -> Iterator[FileUnderScan]:
    """Every file with these signs among its letters beyond ASCII, which are all that a check looks for.

    Media are left out. A NUL byte that makes a text unreadable must not make what is hidden in it unseen.
    """
    return (file for file in _with_invisible_text(skill) if signs.search(file.beyond_ascii))


@once_a_skill
def _with_invisible_text(skill: SkillUnderScan) -> list[FileUnderScan]:
    return [file for file in skill.files if file.shape not in NO_TEXT and file.has_invisible_text]


def _places(
    file: FileUnderScan, pattern: re.Pattern[str], *, allowed: Sequence[tuple[int, int]] = ()
) -> Iterator[Place]:
    """One place a line. Lines are counted from one match to the next, so the file is walked once."""
    line, counted = 1, 0
    last_line = 0
    inside = _Inside(allowed)
    for found in pattern.finditer(file.text):
        if inside.covers(found.start()):
            continue
        if not file.has_places:
            if is_of_text(file.text, *found.span()):
                yield Place(file.path)
                return
            continue
        line += file.text.count("\n", counted, found.start())
        counted = found.start()
        if line != last_line:
            column = found.start() - (file.text.rfind("\n", 0, found.start()) + 1)
            yield Place(file.path, line, column + 1, make_excerpt(file.lines[line - 1], start=column))
        last_line = line


class _Inside:
    """Tells whether offsets, asked in ascending order, lie inside one of the spans."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._left = list(reversed(spans))

    def covers(self, offset: int) -> bool:
        while self._left and self._left[-1][1] <= offset:
            self._left.pop()
        return bool(self._left) and self._left[-1][0] <= offset
