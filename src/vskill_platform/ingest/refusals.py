"""Why frontmatter is not taken at all: each refusal says where, what, and what to do."""

from __future__ import annotations

import re
from typing import NamedTuple

from vskill_platform.domain.errors import InvalidFrontmatter
from vskill_platform.ingest.escaping import printable

# Also the line breaks that only some YAML parsers take for one: U+0085, U+2028 and U+2029.
_CONTROL = re.compile(r"[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BREAKS = dict.fromkeys((0x0D, 0x85, 0x2028, 0x2029), " ")


class Place(NamedTuple):
    """A line and a column, both from 1."""

    line: int
    column: int


def refuse(reason: str, *, place: Place, message: str, fix: str) -> InvalidFrontmatter:
    """The error for frontmatter that is not taken at all."""
    return InvalidFrontmatter(
        f"SKILL.md, line {place.line}, column {place.column}: {message}. {fix}",
        reason=reason,
        line=place.line,
        column=place.column,
    )


def duplicate_key(key: str, *, place: Place) -> InvalidFrontmatter:
    """The error for a key that is there twice: clients differ in which of the two they take."""
    message = f"The key '{printable(key)}' is there twice"
    return refuse("duplicate_key", place=place, message=message, fix="Keep one of them.")


def refuse_controls(text: str, *, first_line: int) -> None:
    """Raise InvalidFrontmatter for a control character, or a line break that only some parsers know."""
    found = _CONTROL.search(text)
    if found:
        column = found.start() - text.rfind("\n", 0, found.start())
        raise _control(found[0], place=Place(first_line + text.count("\n", 0, found.start()), column))


def refuse_escaped_controls(value: str, *, place: Place) -> None:
    """Raise InvalidFrontmatter for a control character that an escape wrote; line breaks in a value are only text."""
    found = _CONTROL.search(value.translate(_BREAKS))
    if found:
        raise _control(found[0], place=place)


def _control(character: str, *, place: Place) -> InvalidFrontmatter:
    message = f"The frontmatter has the control character U+{ord(character):04X}"
    return refuse("control_character", place=place, message=message, fix="Delete it.")
