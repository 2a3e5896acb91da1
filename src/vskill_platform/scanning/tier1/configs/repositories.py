"""Repositories inside a skill: git obeys the configuration of the folder it is run in, and that can name programs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.tier1.configs.reporting import LAYER
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.skill import FileUnderScan, Sighting, SkillUnderScan

_HEAD = re.compile(rb"ref: refs/|[0-9a-f]{40}\s*$")
_PROGRAM = re.compile(
    r"(?im)^[ \t]*(?P<line>(?:fsmonitor|hookspath|sshcommand|gitproxy|pager|editor|askpass|textconv|clean|smudge|process|helper|"
    r"packobjectshook|external|cmd|driver|alternaterefscommand)[ \t]*=[ \t]*"
    r"(?!(?:false|true|cat|less|more|most|delta|bat|diff-so-fancy|difft|vim?|nvim|nano|emacs|micro|hx|helix|code|subl|osxkeychain|"
    r"store|manager|cache|libsecret|wincred)(?:[ \t]+[\w=./:+-]+)*[ \t]*$)\S.{0,200}"
    r"|\w[\w-]{0,60}[ \t]*=[ \t]*!.{1,200}|[^\n]{0,200}\bext::.{1,200})"
)
_SECTION = re.compile(
    r"(?im)^\s*\[(?:core|alias|filter|diff|merge|credential|remote|include|url|uploadpack|difftool|mergetool)\b"
)
MOST_BYTES = 5 * 1024 * 1024
_CONFIGURATION = frozenset(["config", ".gitconfig", "gitconfig", "config.worktree"])


def find_repositories(skill: SkillUnderScan) -> Iterator[Sighting]:
    """Folders that git takes for a repository, and configuration of git that starts programs."""
    heads: list[FileUnderScan] = []
    for file in skill.files:
        name = file.path.rpartition("/")[2]
        if name == "HEAD" and _HEAD.match(file.content[:200]):
            heads.append(file)
        elif name.lower() in _CONFIGURATION and b"[" in file.content[:4096]:
            yield from _find_programs(file)
    if not heads:
        return
    paths = [file.path for file in skill.files]
    folders = _folders_with("objects/", paths) & _folders_with("refs/", paths)
    for file in heads:
        folder = file.path.removesuffix("HEAD")
        if folder in folders:
            yield Sighting("nested_repository", file.path, 1, 1, make_excerpt(folder or "./"), LAYER)


def _folders_with(inside: str, paths: list[str]) -> set[str]:
    """The folders that have a folder of this name with a file in it."""
    return {path[: found.start()] for path in paths for found in re.finditer(rf"(?<![^/]){inside}", path)}


def _find_programs(file: FileUnderScan) -> Iterator[Sighting]:
    text = file.text[:MOST_BYTES]
    found = _PROGRAM.search(text)
    if found is not None and _SECTION.search(text):
        line = text.count("\n", 0, found.start("line")) + 1
        yield Sighting("git_runs_program", file.path, line, 1, make_excerpt(found.group().strip()), LAYER)
