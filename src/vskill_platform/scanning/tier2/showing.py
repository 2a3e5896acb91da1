"""What the judge is shown of a skill: every line under its number, and nothing in it that a model's server would obey.

A line of the skill begins with its number wherever it came from, so none can pass for a line of ours. What does not fit is left
out by one rule: SKILL.md comes first, then files that tier 1 found something in, then the others by their paths; the first that
does not fit whole is cut at a line, and nothing is shown after it. Pictures and the like are named only: tier 1 speaks for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from vskill_platform.domain.content import SKILL_FILE_NAMES, SkillContent, SkillFile
from vskill_platform.domain.scan import Finding, ScanReport, Severity
from vskill_platform.scanning.tier1.excerpts import INVISIBLE, show_invisible
from vskill_platform.scanning.tier1.file_kinds import UTF16_MARKS, Shape, shape_of

MOST_FINDINGS = 100
MOST_LEFT_OUT = 20
_LONGEST_PATH = 300
_CONTROL_TOKEN = re.compile(
    r"[<\[](?=[|｜]|</?SYS>|/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT)\]"
    r"|/?(?:s|bos|eos|unk|pad|think|tool_call|start_of_turn|end_of_turn|system|user|assistant)>)",
    re.IGNORECASE,
)
"""Where signs begin by which servers of models tell who speaks. They get a backslash, so that they are text again."""
_INVISIBLE = re.compile(f"[{INVISIBLE}]")


class Shown(NamedTuple):
    """Lines for the judge, the findings it has to speak to by their names, and what it does not see."""

    lines: tuple[str, ...]
    findings: dict[str, Finding]
    left_out: tuple[str, ...]


def show_skill(content: SkillContent, report: ScanReport, *, limit_bytes: int) -> Shown:
    """The skill and what tier 1 found in it, in at most so many bytes."""
    counted = [finding for finding in report.findings if finding.severity is not Severity.INFO]
    findings = {f"F{number}": finding for number, finding in enumerate(counted[:MOST_FINDINGS], start=1)}
    lines = [_show_finding(name, finding) for name, finding in findings.items()] or ["(none)"]
    left_out = [f"{len(counted) - MOST_FINDINGS} findings"] if len(counted) > MOST_FINDINGS else []
    room = _Room(limit_bytes - sum(_size(line) for line in lines))
    shown = ["FINDINGS", *lines, "FILES"]
    for file in _in_order(content, {finding.file for finding in counted}):
        shown += _show_file(file, room, left_out)
    for entry in content.omitted:
        shown += _show_entry(f"not part of the skill: {quoted(entry.path)} ({entry.kind.value})", room, left_out)
    return Shown(tuple(shown), findings, _told(left_out))


def text_of(file: SkillFile, *, limit_bytes: int) -> str:
    """The text of a file that is text, as far as it could fit; what cannot be decoded is shown as escapes."""
    if file.content.startswith(UTF16_MARKS):
        return file.content[: 2 * limit_bytes + 4].decode("utf-16", "backslashreplace")
    return file.content[: limit_bytes + 1].decode("utf-8", "backslashreplace")


def is_text(file: SkillFile) -> bool:
    """Whether a judge could read the file."""
    return shape_of(file.path, file.content) is Shape.TEXT


def harmless(text: str) -> str:
    """One line of others, as it may stand in a prompt: nothing invisible, and no sign that servers of models obey."""
    visible = _INVISIBLE.sub(lambda found: "\t" if found[0] == "\t" else show_invisible(found[0]), text)
    return _CONTROL_TOKEN.sub(lambda found: f"{found[0]}\\", visible)


def quoted(path: str) -> str:
    """A path as one word."""
    return harmless(msgspec.json.encode(path[:_LONGEST_PATH]).decode())


class _Room:
    """The bytes that are left."""

    def __init__(self, size: int) -> None:
        self.left = size
        self.is_full = False

    def takes(self, line: str) -> bool:
        """Whether the line fits; after the first that does not, none does."""
        self.left -= _size(line)
        self.is_full = self.is_full or self.left < 0
        return not self.is_full


def _size(line: str) -> int:
    return len(line.encode()) + 1


def _in_order(content: SkillContent, found_in: set[str]) -> list[SkillFile]:
    return sorted(content.files, key=lambda file: (file.path not in SKILL_FILE_NAMES, file.path not in found_in))


def _show_finding(name: str, finding: Finding) -> str:
    told = {
        "id": name,
        "rule": finding.rule_id,
        "severity": finding.severity.value,
        "category": finding.category.value,
        "file": finding.file[:_LONGEST_PATH],
        "line": finding.line,
        "message": finding.message,
        "excerpt": finding.excerpt,
    }
    return harmless(msgspec.json.encode(told).decode())


def _show_entry(line: str, room: _Room, left_out: list[str]) -> list[str]:
    """A line about an entry of the folder, if it fits."""
    if room.takes(line):
        return [line]
    left_out.append(line)
    return []


def _show_file(file: SkillFile, room: _Room, left_out: list[str]) -> list[str]:
    shape = shape_of(file.path, file.content)
    title = f"file {quoted(file.path)}, {len(file.content)} bytes"
    if shape is Shape.TEXT:
        titled = _show_entry(title, room, left_out)
        return [*titled, *_show_lines(file, room, left_out)] if titled else []
    if shape is not Shape.MEDIA:
        left_out.append(quoted(file.path))
    return _show_entry(f"{title}: {shape.value}, not shown", room, left_out)


def _show_lines(file: SkillFile, room: _Room, left_out: list[str]) -> Iterator[str]:
    for number, line in enumerate(text_of(file, limit_bytes=room.left).split("\n"), start=1):
        shown = f"{number}| {harmless(line)}"
        if not room.takes(shown):
            yield f"(not shown from line {number} on)"
            left_out.append(f"{quoted(file.path)} from line {number} on")
            return
        yield shown


def _told(left_out: list[str]) -> tuple[str, ...]:
    rest = len(left_out) - MOST_LEFT_OUT
    return (*left_out[:MOST_LEFT_OUT], f"{rest} more") if rest > 0 else tuple(left_out)
