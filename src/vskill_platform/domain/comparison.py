"""How the files of two versions of a skill differ, with line differences for text, within bounds."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator
from enum import StrEnum

import msgspec

from vskill_platform.domain.content import SkillContent, SkillFile

MAX_DIFF_LINES = 1500
"""Lines that both sides of a file may have together, less what they begin and end with, to be compared."""
MAX_DIFF_CHARS = 256 * 1024
MAX_TOTAL_LINES = 4000
_CONTEXT_LINES = 3
_UNENDED = "\\ No newline at end of file"


class FileChangeKind(StrEnum):
    """What became of a file. `mode` means that only its executable bit differs."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MODE = "mode"


class NoDiff(StrEnum):
    """Why a change has no line difference."""

    BINARY = "binary"
    TOO_LARGE = "too_large"


class FileState(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A file as it is in one of the two versions."""

    size: int
    sha256: str
    executable: bool


class FileChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One file that differs. `diff` is a unified difference; where there is none, `no_diff` says why."""

    path: str
    change: FileChangeKind
    before: FileState | None
    after: FileState | None
    diff: str | None = None
    no_diff: NoDiff | None = None


def compare_contents(before: SkillContent, after: SkillContent) -> list[FileChange]:
    """Every file that differs, in the order of the paths' bytes. After so many lines only which files differ is told."""
    old = {file.path: file for file in before.files}
    new = {file.path: file for file in after.files}
    left = MAX_TOTAL_LINES
    changes = []
    for path in sorted(old.keys() | new.keys(), key=str.encode):
        if old.get(path) == new.get(path):
            continue
        change = _compare_files(path, old.get(path), new.get(path), most_lines=min(left, MAX_DIFF_LINES))
        left -= change.diff.count("\n") if change.diff else 0
        changes.append(change)
    return changes


def _compare_files(path: str, old: SkillFile | None, new: SkillFile | None, *, most_lines: int) -> FileChange:
    diff = no_diff = None
    before, after = b"" if old is None else old.content, b"" if new is None else new.content
    if before != after:
        texts = _text(before), _text(after)
        if None in texts:
            no_diff = NoDiff.BINARY
        else:
            diff = _diff(texts[0] or "", texts[1] or "", most_lines=most_lines)
            no_diff = NoDiff.TOO_LARGE if diff is None else None
    return FileChange(
        path=path, change=_kind(old, new), before=_state(old), after=_state(new), diff=diff, no_diff=no_diff
    )


def _kind(old: SkillFile | None, new: SkillFile | None) -> FileChangeKind:
    if old is None:
        return FileChangeKind.ADDED
    if new is None:
        return FileChangeKind.REMOVED
    return FileChangeKind.MODE if old.content == new.content else FileChangeKind.CHANGED


def _state(file: SkillFile | None) -> FileState | None:
    if file is None:
        return None
    digest = hashlib.sha256(file.content).hexdigest()
    return FileState(size=len(file.content), sha256=digest, executable=file.executable)


def _text(content: bytes) -> str | None:
    if b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _diff(before: str, after: str, *, most_lines: int) -> str | None:
    """The unified difference, or None where it would take too long or be too long."""
    if len(before) > MAX_DIFF_CHARS or len(after) > MAX_DIFF_CHARS:
        return None
    old, new = _lines(before), _lines(after)
    first, last = _common_ends(old, new)
    if len(old) + len(new) - 2 * (first + last) > most_lines:
        return None
    # What both begin and end with is left out but for a few lines, because comparing is slow.
    start, spare = max(0, first - _CONTEXT_LINES), max(0, last - _CONTEXT_LINES)
    return "".join(_hunks(old[start : len(old) - spare], new[start : len(new) - spare], start=start))


def _lines(text: str) -> list[str]:
    """The lines of a text; the last one says so where nothing ends it, as `diff` does."""
    lines = text.split("\n")
    if lines[-1]:
        return [*lines[:-1], f"{lines[-1]}\n{_UNENDED}"]
    return lines[:-1]


def _common_ends(old: list[str], new: list[str]) -> tuple[int, int]:
    """How many lines at the beginning and at the end are the same."""
    most = min(len(old), len(new))
    first = next((number for number in range(most) if old[number] != new[number]), most)
    most -= first
    last = next((number for number in range(most) if old[-1 - number] != new[-1 - number]), most)
    return first, last


def _hunks(old: list[str], new: list[str], *, start: int) -> Iterator[str]:
    """Hunks as `diff -u` writes them, less its file names; line numbers are those of the whole file."""
    for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(_CONTEXT_LINES):
        yield f"@@ -{_span(group[0][1], group[-1][2], start)} +{_span(group[0][3], group[-1][4], start)} @@\n"
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                yield from (f" {line}\n" for line in old[old_from:old_to])
                continue
            yield from (f"-{line}\n" for line in old[old_from:old_to])
            yield from (f"+{line}\n" for line in new[new_from:new_to])


def _span(begin: int, end: int, start: int) -> str:
    """A range of lines as a hunk's head has it; an empty one names the line before it."""
    length = end - begin
    return f"{start + begin + (1 if length else 0)},{length}"
