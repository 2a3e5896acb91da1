"""The frontmatter of a SKILL.md: where it stands, and what it says, with leniency for what people really write.

Frontmatter that is no YAML is common: an unquoted `description: Use when: …` is enough. It is then read entry by entry,
each a `key:` at the left edge with the lines below it. An entry that is YAML counts as such; of any other the text is
taken as it stands. What is refused for safety is refused there too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from vskill_platform.domain.lint import Problem
from vskill_platform.ingest.escaping import printable
from vskill_platform.ingest.plain_yaml import (
    MAX_NODES,
    MAX_SCALAR_CHARACTERS,
    Document,
    SyntaxFault,
    Value,
    read_yaml,
)
from vskill_platform.ingest.problems import error, warning
from vskill_platform.ingest.refusals import Place, duplicate_key, refuse

MAX_FRONTMATTER_BYTES = 64 * 1024

_OPENING = re.compile(r"\A(?P<blank>(?>[ \t]*+\n)*+)---[ \t]*+(?:\n|\Z)")
_CLOSING = re.compile(r"^---[ \t]*+$", re.MULTILINE)
_ENTRY = re.compile(r"^(?P<key>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})[ \t]*+:(?=[ \t\n]|\Z)", re.MULTILINE)
_TAB = re.compile(r"^[^\s#:][^\n:]*+: *+\t", re.MULTILINE)
_BLOCK_MARK = re.compile(r"[|>][0-9+-]{0,2}(?=\s|\Z)")


class Sections(NamedTuple):
    """A file in two parts. `header` is None where there is no frontmatter; then all of the file is body."""

    header: str | None
    header_line: int
    body: str
    body_line: int
    problems: tuple[Problem, ...] = ()


class Fields(NamedTuple):
    """What frontmatter says, and on which line each field stands."""

    values: dict[str, Value]
    lines: dict[str, int]
    problems: tuple[Problem, ...] = ()


def split_sections(text: str) -> Sections:
    """Frontmatter and body of a text with plain line ends. Raises InvalidFrontmatter for frontmatter that is too large."""
    opening = _OPENING.match(text)
    if opening is None:
        return Sections(None, 1, text, 1, (_missing(),))
    header_line = opening["blank"].count("\n") + 2
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        return Sections(None, 1, text[opening.end() :], header_line, (_unclosed(header_line - 1),))
    header = text[opening.end() : closing.start()]
    _refuse_large(header, line=header_line)
    body_line = header_line + header.count("\n") + 1
    return Sections(header, header_line, text[closing.end() + 1 :], body_line, tuple(_blank_problems(header_line)))


def read_fields(header: str, *, first_line: int) -> Fields:
    """The fields of the frontmatter. Raises InvalidFrontmatter for what is unsafe; the rest becomes problems."""
    document = read_yaml(header, first_line=first_line)
    if isinstance(document, SyntaxFault):
        return _read_entries(header, first_line=first_line, fault=document)
    if document.value is None or document.value == "":
        return Fields({}, {})
    if not isinstance(document.value, dict):
        return Fields({}, {}, (_not_a_mapping(first_line),))
    problems = [_odd_key(place) for place in document.odd_keys]
    problems += [_bracketed(place) for place in document.flows[:1]]
    problems += [_tab_after_key(first_line + header.count("\n", 0, tab.start())) for tab in _TAB.finditer(header)][:1]
    problems += _cut_values(document, header.split("\n"), first_line=first_line)
    return Fields(document.value, document.key_lines, tuple(problems))


def _read_entries(header: str, *, first_line: int, fault: SyntaxFault) -> Fields:
    values: dict[str, Value] = {}
    lines: dict[str, int] = {}
    for key, text, line in _split_entries(header, first_line=first_line):
        if key in values:
            raise duplicate_key(key, place=Place(line, 1))
        values[key] = _read_entry(key, text, line=line)
        lines[key] = line
    return Fields(values, lines, (_not_yaml(fault),))


def _split_entries(header: str, *, first_line: int) -> Iterator[tuple[str, str, int]]:
    """Key, text with the key, and line of each entry."""
    starts = list(_ENTRY.finditer(header))
    if len(starts) > MAX_NODES:
        raise refuse(
            "too_many_nodes",
            place=Place(first_line, 1),
            message=f"The frontmatter has more than {MAX_NODES} values",
            fix="Move the data to a file of its own.",
        )
    ends = [start.start() for start in starts[1:]] + [len(header)]
    line, counted = first_line, 0
    for start, end in zip(starts, ends, strict=False):
        line += header.count("\n", counted, start.start())
        counted = start.start()
        yield start["key"], header[counted:end], line


def _read_entry(key: str, text: str, *, line: int) -> Value:
    """The value of one entry: as YAML, else as YAML with spaces for the tabs it is indented with, else as text."""
    for attempt in (text, _indent_with_spaces(text)):
        document = read_yaml(attempt, first_line=line)
        if isinstance(document, Document) and isinstance(document.value, dict) and key in document.value:
            return document.value[key]
    return _as_written(text[text.index(":") + 1 :], line=line)


def _indent_with_spaces(text: str) -> str:
    return re.sub(r"^[ \t]+", lambda indent: indent[0].expandtabs(2), text, flags=re.MULTILINE)


def _as_written(text: str, *, line: int) -> str:
    """The words of a value that is no YAML, without the quotes around it or the mark of a block before it."""
    words = " ".join(text.split())
    if len(words) > MAX_SCALAR_CHARACTERS:
        raise refuse(
            "scalar_too_long",
            place=Place(line, 1),
            message=f"A value has more than {MAX_SCALAR_CHARACTERS} characters",
            fix="Move the text to the body of the file.",
        )
    words = _BLOCK_MARK.sub("", words, count=1).strip() if _BLOCK_MARK.match(words) else words
    is_quoted = len(words) > 1 and words[0] == words[-1] and words[0] in "\"'"
    return words[1:-1] if is_quoted else words


def _refuse_large(header: str, *, line: int) -> None:
    if len(header) > MAX_FRONTMATTER_BYTES or len(header.encode()) > MAX_FRONTMATTER_BYTES:
        raise refuse(
            "frontmatter_too_large",
            place=Place(line, 1),
            message=f"The frontmatter has more than {MAX_FRONTMATTER_BYTES} bytes",
            fix="Keep name and description there and move the rest to the body.",
        )


def _cut_values(document: Document, lines: list[str], *, first_line: int) -> Iterator[Problem]:
    """A warning for each unquoted value that ends where a ` #` begins a comment."""
    for key, end in document.plain_ends.items():
        row = end.line - first_line
        if row < len(lines) and lines[row][end.column - 1 :].lstrip().startswith("#"):
            yield warning(
                "value_cut_by_comment",
                line=end.line,
                message=f"The value of '{printable(key)}' ends before ' #'; YAML takes the rest of the line for a comment.",
                fix="Put the whole value in quotes.",
            )


def _blank_problems(header_line: int) -> Iterator[Problem]:
    if header_line > 2:
        yield error(
            "frontmatter_not_first",
            line=header_line - 1,
            message="There are blank lines before the frontmatter; some clients do not see it then.",
            fix="Begin the file with '---'.",
        )


def _missing() -> Problem:
    return error(
        "frontmatter_missing",
        line=1,
        message="The file has no frontmatter.",
        fix="Begin it with a line '---', then name and description, then a line '---'.",
    )


def _unclosed(line: int) -> Problem:
    return error(
        "frontmatter_unclosed",
        line=line,
        message="The frontmatter that begins here has no end, so nothing of it counts.",
        fix="Put a line '---' after its last field.",
    )


def _not_a_mapping(line: int) -> Problem:
    return error(
        "frontmatter_not_mapping",
        line=line,
        message="The frontmatter is not a list of fields.",
        fix="Write it as 'name: …' and 'description: …', one on each line.",
    )


def _not_yaml(fault: SyntaxFault) -> Problem:
    return error(
        "frontmatter_not_yaml",
        line=fault.place.line,
        message=f"The frontmatter is no YAML: column {fault.place.column}, {fault.reason}. It was read line by line.",
        fix="Put the value on this line in quotes.",
    )


def _odd_key(place: Place) -> Problem:
    return error(
        "key_not_text",
        line=place.line,
        message="A key of the frontmatter is a list or a mapping; it and its value were left out.",
        fix="Use plain words for keys.",
    )


def _bracketed(place: Place) -> Problem:
    return error(
        "frontmatter_brackets",
        line=place.line,
        message="A list or a mapping is written in brackets, which the specification's own validator does not read.",
        fix="Write each entry on a line of its own.",
    )


def _tab_after_key(line: int) -> Problem:
    return error(
        "frontmatter_tab",
        line=line,
        message="There is a tab between a field and its value, which the specification's own validator does not read.",
        fix="Put a space there.",
    )
