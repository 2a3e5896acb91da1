"""SKILL.md: what a skill says of itself, read from untrusted bytes.

There are two answers in one. The lenient one is the fields: whatever real skills contain is taken, as long as it is safe
to take. The strict one is `is_strict_valid`: whether the file keeps the agent-skills specification; every breach is in
`problems`, with the line and the way to mend it.

Raised as InvalidFrontmatter is only what is unsafe or hopeless: a file over the limit, bytes that are not UTF-8, a NUL,
frontmatter over a limit, and YAML that means different things to different parsers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

import msgspec

from vskill_platform.domain.errors import InvalidFrontmatter
from vskill_platform.domain.lint import Problem, ProblemSeverity
from vskill_platform.ingest.frontmatter import Fields, read_fields, split_sections
from vskill_platform.ingest.plain_yaml import Value, as_text
from vskill_platform.ingest.problems import error, warning
from vskill_platform.ingest.refusals import Place, refuse
from vskill_platform.ingest.skill_names import MAX_NAME_BYTES
from vskill_platform.ingest.specification import SPECIFIED_FIELDS, find_field_problems

MAX_FILE_BYTES = 5 * 1024 * 1024
_SUMMARY_CHARACTERS = 300
_SUMMARY_SEARCHED_CHARACTERS = 16 * 1024
_BODY_CONTROL = re.compile(r"[\x01-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f]")


class SkillMd(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A SKILL.md. Values are the text as it was written; what is nested in `metadata` and `extra` is JSON text.

    `extra` has the fields that the specification does not know. `body_line` is the line of the file that the body
    begins on.
    """

    name: str | None
    description: str
    license: str = ""
    compatibility: str = ""
    metadata: dict[str, str] = {}
    allowed_tools: tuple[str, ...] = ()
    version: str = ""
    extra: dict[str, str] = {}
    body: str = ""
    body_line: int = 1
    problems: tuple[Problem, ...] = ()

    @property
    def is_strict_valid(self) -> bool:
        """Whether the file keeps the agent-skills specification."""
        return all(problem.severity is not ProblemSeverity.ERROR for problem in self.problems)


def parse_skill_md(content: bytes, *, folder_name: str | None = None) -> SkillMd:
    """The SKILL.md with this content. Raises InvalidFrontmatter for what is unsafe or hopeless.

    A skill without a usable name is called after `folder_name`; a name that differs from it is a problem. None means that the
    folder's name says nothing, as for the root of a repository.
    """
    text = _decode(content)
    sections = split_sections(text.removeprefix("\ufeff"))
    fields = Fields({}, {})
    if sections.header is not None:
        fields = read_fields(sections.header, first_line=sections.header_line)
    problems = chain(
        _find_file_problems(text, body=sections.body, body_line=sections.body_line),
        sections.problems,
        fields.problems,
        () if sections.header is None else find_field_problems(fields, folder_name=folder_name),
    )
    return _assemble(
        fields, body=sections.body, body_line=sections.body_line, folder_name=folder_name, problems=problems
    )


def split_tools(text: str) -> tuple[str, ...]:
    """The tools of an `allowed-tools` text: separated by spaces or commas, but not within parentheses."""
    tools: list[str] = []
    start, depth = 0, 0
    for position, character in enumerate(text):
        if character in "()":
            depth = max(0, depth + (1 if character == "(" else -1))
        elif depth == 0 and (character == "," or character.isspace()):
            tools.append(text[start:position])
            start = position + 1
    tools.append(text[start:])
    return tuple(tool for tool in tools if tool)


def _decode(content: bytes) -> str:
    if len(content) > MAX_FILE_BYTES:
        raise InvalidFrontmatter(
            f"SKILL.md has {len(content)} bytes; {MAX_FILE_BYTES} are allowed. Move text to files beside it.",
            reason="file_too_large",
        )
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as exc:
        place = _place_in(content[: exc.start].decode("utf-8"))
        message = f"The byte 0x{content[exc.start]:02x} is not UTF-8"
        raise refuse("not_utf8", place=place, message=message, fix="Save the file as UTF-8.") from None
    if "\0" in text:
        place = _place_in(text[: text.index("\0")])
        raise refuse("nul", place=place, message="The file holds a NUL character", fix="Delete it.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _place_in(before: str) -> Place:
    """The place that follows this text."""
    lines = before.replace("\r\n", "\n").replace("\r", "\n").rsplit("\n", 1)
    return Place(lines[0].count("\n") + len(lines), len(lines[-1]) + 1)


def _assemble(
    fields: Fields, *, body: str, body_line: int, folder_name: str | None, problems: Iterator[Problem]
) -> SkillMd:
    values = fields.values
    metadata = _as_text_map(values.get("metadata", {}))
    return SkillMd(
        name=_name(values) or folder_name,
        description=_text(values, "description").strip() or _first_paragraph(body),
        license=_text(values, "license"),
        compatibility=_text(values, "compatibility"),
        metadata=metadata,
        allowed_tools=_tools(values.get("allowed-tools", "")),
        version=metadata.get("version") or _text(values, "version"),
        extra={key: as_text(value) for key, value in values.items() if key not in SPECIFIED_FIELDS},
        body=body,
        body_line=body_line,
        problems=tuple(problems),
    )


def _name(values: dict[str, Value]) -> str:
    """The name that the file gives; empty for one that no file system and no key could hold."""
    name = _text(values, "name").strip()
    return name if len(name.encode()) <= MAX_NAME_BYTES else ""


def _text(values: dict[str, Value], key: str) -> str:
    return as_text(values.get(key, ""))


def _as_text_map(value: Value) -> dict[str, str]:
    return {key: as_text(inner) for key, inner in value.items()} if isinstance(value, dict) else {}


def _tools(value: Value) -> tuple[str, ...]:
    if isinstance(value, str):
        return split_tools(value)
    items = value if isinstance(value, list) else list(value)
    return tuple(tool for item in items if (tool := as_text(item).strip()))


def _first_paragraph(body: str) -> str:
    """The first words of a body that are no heading, in one line and not many."""
    words: list[str] = []
    for line in body[:_SUMMARY_SEARCHED_CHARACTERS].split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            words += line.split()
        elif words:
            break
    text = " ".join(words)
    return text if len(text) <= _SUMMARY_CHARACTERS else text[: _SUMMARY_CHARACTERS - 1].rstrip() + "…"


def _find_file_problems(text: str, *, body: str, body_line: int) -> Iterator[Problem]:
    if text.startswith("\ufeff"):
        yield error(
            "byte_order_mark",
            line=1,
            message="The file begins with a byte order mark; some clients do not see the frontmatter behind it.",
            fix="Save the file as UTF-8 without a byte order mark.",
        )
    control = _BODY_CONTROL.search(body)
    if control:
        yield warning(
            "control_character",
            line=body_line + body.count("\n", 0, control.start()),
            message=f"The body has the control character U+{ord(control[0]):04X}.",
            fix="Delete it.",
        )
    if not body.strip():
        yield warning("body_empty", line=body_line, message="The skill has no instructions.", fix="Write what it does.")
