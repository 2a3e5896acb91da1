"""Checks that no pattern can make: what was left out of the skill, what cannot be read, and what lies about itself.

Each check belongs to a rule of `rules/structure.toml`, which names it and has its severity and its words. Nothing in a
skill switches a check off; files that ask scanners to look away are files like all others.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from vskill_platform.domain.content import Omitted, OmittedKind
from vskill_platform.scanning.limits import FILE_TOO_LARGE, NO_SKILL_FILE, UNANALYSABLE_FILE
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import MEDIA_SUFFIXES, NO_TEXT, Shape, is_pdf_by_name
from vskill_platform.scanning.tier1.skill import FileUnderScan, LimitHit, SkillUnderScan

LONGEST_LINE = 20_000
MOST_BLANK_LINES = 1_000
LFS_POINTER = b"version https://git-lfs.github.com/spec/"


class Place(NamedTuple):
    """Where a check found what it looks for."""

    file: str
    line: int = 0
    column: int = 0
    excerpt: str = ""


Seen = Iterable[Place | LimitHit]


def missing_skill_file(skill: SkillUnderScan) -> Seen:
    """A folder without a SKILL.md cannot be read as a skill."""
    if skill.skill_file is None:
        yield Place("SKILL.md")
        yield LimitHit(NO_SKILL_FILE)


def missing_frontmatter(skill: SkillUnderScan) -> Seen:
    """A SKILL.md that does not say what it is."""
    if skill.skill_file is not None and (skill.frontmatter is None or not skill.frontmatter.text.strip()):
        yield Place(skill.skill_file.path)


def escaping_symlink(skill: SkillUnderScan) -> Seen:
    """A link to a place outside the skill."""
    return (_omitted_place(entry) for entry in _omitted(skill, OmittedKind.SYMLINK) if _escapes(entry))


def inner_symlink(skill: SkillUnderScan) -> Seen:
    """A link to a place inside the skill."""
    return (_omitted_place(entry) for entry in _omitted(skill, OmittedKind.SYMLINK) if not _escapes(entry))


def submodule(skill: SkillUnderScan) -> Seen:
    """Another repository inside the skill."""
    return (_omitted_place(entry) for entry in _omitted(skill, OmittedKind.SUBMODULE))


def special_entry(skill: SkillUnderScan) -> Seen:
    """A device, a socket, a pipe, or a mode that git does not know."""
    return (_omitted_place(entry) for entry in _omitted(skill, OmittedKind.SPECIAL))


def oversized_file(skill: SkillUnderScan) -> Seen:
    """A file that was left out because of its size has not been seen."""
    for entry in _omitted(skill, OmittedKind.TOO_LARGE):
        yield _omitted_place(entry)
        yield LimitHit(FILE_TOO_LARGE)


def executable_binary(skill: SkillUnderScan) -> Seen:
    """A compiled program."""
    return (Place(file.path) for file in skill.files if file.shape is Shape.EXECUTABLE)


def archive(skill: SkillUnderScan) -> Seen:
    """A file that has other files in it. Whether they could be seen is said by `containers/`."""
    return (Place(file.path) for file in skill.files if file.shape is Shape.ARCHIVE and not file.is_inner)


def unknown_binary(skill: SkillUnderScan) -> Seen:
    """Bytes that are neither text nor a known kind of media."""
    return _unseen(file for file in skill.files if file.shape is Shape.BINARY)


def large_file_pointer(skill: SkillUnderScan) -> Seen:
    """A pointer to a file that is stored elsewhere and has not been seen."""
    return _unseen(file for file in skill.files if file.content.startswith(LFS_POINTER))


def false_extension(skill: SkillUnderScan) -> Seen:
    """A file that is called an image, a font or a sound, and is not a known one."""
    return (Place(file.path, excerpt=make_excerpt(file.text[:200])) for file in skill.files if _lies(file))


def long_line(skill: SkillUnderScan) -> Seen:
    """A line that nobody can read."""
    for file in skill.files:
        if file.shape is not Shape.TEXT or not _has_long_line(file.text):
            continue
        for number, line in enumerate(file.lines, start=1):
            if len(line) > LONGEST_LINE:
                yield Place(file.path, number, 1, make_excerpt(line))


def _has_long_line(text: str) -> bool:
    """Whether somewhere no line ends for too long: steps from the last end of a line that is near to the next such."""
    start = 0
    while len(text) - start > LONGEST_LINE:
        end = text.rfind("\n", start, start + LONGEST_LINE + 1)
        if end < 0:
            return True
        start = end + 1
    return False


def blank_padding(skill: SkillUnderScan) -> Seen:
    """So many blank lines that what follows them is out of sight. A NUL byte somewhere does not excuse them."""
    for file in skill.files:
        if file.shape in NO_TEXT or file.text.count("\n") < MOST_BLANK_LINES or not _may_be_padded(file.lines):
            continue
        blank = 0
        for number, line in enumerate(file.lines, start=1):
            blank = blank + 1 if _is_blank(line) else 0
            if blank == MOST_BLANK_LINES + 1:
                yield Place(file.path, number, 1) if file.has_places else Place(file.path)


def _may_be_padded(lines: Sequence[str]) -> bool:
    """Whether one of the lines is blank of which every padding has one, because they are no further apart."""
    return any(map(_is_blank, lines[MOST_BLANK_LINES :: MOST_BLANK_LINES + 1]))


def _is_blank(line: str) -> bool:
    return not line or line.isspace()


def _omitted(skill: SkillUnderScan, kind: OmittedKind) -> Iterator[Omitted]:
    return (entry for entry in skill.content.omitted if entry.kind is kind)


def _omitted_place(entry: Omitted) -> Place:
    return Place(entry.path, excerpt=make_excerpt(entry.detail))


def _escapes(entry: Omitted) -> bool:
    """Whether a link leads out of the skill, by its text alone. A link without a target is taken to."""
    target = entry.detail.replace("\\", "/")
    if not target or target.startswith(("/", "~")) or target[1:2] == ":":
        return True
    landing = posixpath.normpath(posixpath.join(posixpath.dirname(entry.path), target))
    return landing == ".." or landing.startswith("../")


def _unseen(files: Iterable[FileUnderScan]) -> Iterator[Place | LimitHit]:
    for file in files:
        yield Place(file.path)
        yield LimitHit(UNANALYSABLE_FILE)


def _lies(file: FileUnderScan) -> bool:
    if file.suffix not in MEDIA_SUFFIXES or not file.content or file.content.startswith(LFS_POINTER):
        return False
    return file.shape is not Shape.MEDIA and not is_pdf_by_name(file.path, file.content)
