"""The agent-skills specification as checks: each breach is a problem with its line and the way to mend it."""

from __future__ import annotations

from collections.abc import Iterator

from vskill_platform.domain.lint import Problem
from vskill_platform.ingest.escaping import printable
from vskill_platform.ingest.frontmatter import Fields
from vskill_platform.ingest.plain_yaml import as_text
from vskill_platform.ingest.problems import error, warning
from vskill_platform.ingest.skill_names import find_name_problems, hidden_characters

MAX_DESCRIPTION_CHARACTERS = 1024
MAX_COMPATIBILITY_CHARACTERS = 500
SPECIFIED_FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")

_MAX_UNKNOWN_REPORTED = 50


def find_field_problems(fields: Fields, *, folder_name: str | None) -> Iterator[Problem]:
    """What is wrong with the fields of a SKILL.md, by the specification and beyond it."""
    yield from _find_unknown_fields(fields)
    for key in ("name", "description", "license", "compatibility"):
        if not isinstance(fields.values.get(key, ""), str):
            yield error(
                "field_not_text",
                line=fields.lines[key],
                message=f"'{key}' is a list or a mapping.",
                fix="Write it as text.",
            )
    yield from _check_name(fields, folder_name=folder_name)
    yield from _check_description(fields)
    yield from _check_compatibility(fields)
    yield from _check_metadata(fields)
    yield from _check_tools(fields)


def _find_unknown_fields(fields: Fields) -> Iterator[Problem]:
    unknown = [key for key in fields.values if key not in SPECIFIED_FIELDS]
    for key in unknown[:_MAX_UNKNOWN_REPORTED]:
        yield error(
            "unknown_field",
            line=fields.lines[key],
            message=f"The specification has no field '{printable(key)}'.",
            fix="Move it below 'metadata'.",
        )


def _check_name(fields: Fields, *, folder_name: str | None) -> Iterator[Problem]:
    line = fields.lines.get("name", 0)
    name = as_text(fields.values.get("name", ""))
    if not name.strip():
        yield error(
            "name_missing", line=line, message="The skill has no name.", fix="Add 'name: …', the folder's name."
        )
        return
    yield from find_name_problems(name, line=line, folder_name=folder_name)


def _check_description(fields: Fields) -> Iterator[Problem]:
    line = fields.lines.get("description", 0)
    description = as_text(fields.values.get("description", ""))
    if not description.strip():
        yield error(
            "description_missing",
            line=line,
            message="The skill has no description, so no agent knows when to use it.",
            fix="Add 'description: …': what it does and when to use it.",
        )
    if len(description.strip()) > MAX_DESCRIPTION_CHARACTERS:
        yield _too_long("description", len(description.strip()), MAX_DESCRIPTION_CHARACTERS, line=line)
    hidden = hidden_characters(description)
    if hidden:
        yield warning(
            "description_hidden_characters",
            line=line,
            message=f"The description has characters that do not show: {', '.join(hidden[:5])}.",
            fix="Type the text anew.",
        )


def _check_compatibility(fields: Fields) -> Iterator[Problem]:
    line = fields.lines.get("compatibility", 0)
    length = len(as_text(fields.values.get("compatibility", "")))
    if length > MAX_COMPATIBILITY_CHARACTERS:
        yield _too_long("compatibility", length, MAX_COMPATIBILITY_CHARACTERS, line=line)


def _too_long(field: str, length: int, allowed: int, *, line: int) -> Problem:
    return error(
        f"{field}_too_long",
        line=line,
        message=f"The {field} has {length} characters; {allowed} are allowed.",
        fix="Shorten it; details belong in the body.",
    )


def _check_metadata(fields: Fields) -> Iterator[Problem]:
    metadata = fields.values.get("metadata", {})
    is_text_map = isinstance(metadata, dict) and all(isinstance(value, str) for value in metadata.values())
    if not is_text_map and metadata != "":
        yield error(
            "metadata_not_text_map",
            line=fields.lines["metadata"],
            message="'metadata' is not a mapping from words to text.",
            fix="Write each entry as 'key: text', without lists or further levels.",
        )


def _check_tools(fields: Fields) -> Iterator[Problem]:
    tools = fields.values.get("allowed-tools", "")
    line = fields.lines.get("allowed-tools", 0)
    if not isinstance(tools, str):
        yield error(
            "allowed_tools_not_text",
            line=line,
            message="'allowed-tools' is a list; the specification has a text.",
            fix="Write the tools in one line with spaces between.",
        )
    elif tools.count("(") != tools.count(")"):
        yield warning(
            "allowed_tools_unbalanced",
            line=line,
            message="'allowed-tools' has a parenthesis without its partner.",
            fix="Write each pattern as 'Tool(pattern)'.",
        )
