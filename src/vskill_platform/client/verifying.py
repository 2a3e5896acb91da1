"""Whether what lies in a folder is what was installed, and what the registry has published: file by file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from vskill_platform.domain.comparison import FileChangeKind
from vskill_platform.domain.content import SkillContent, content_digest
from vskill_platform.domain.skill import VersionFile
from vskill_platform.ingest.folder import read_folder
from vskill_platform.ingest.limits import SkillLimits


class Difference(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One path that is otherwise than it should be."""

    path: str
    change: FileChangeKind
    detail: str = ""


class FolderCheck(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A folder against the files that it should have. `digest` is that of what lies there, empty where nothing does."""

    folder: str
    digest: str
    differences: tuple[Difference, ...] = ()


def check_folder(folder: Path, files: Sequence[VersionFile], *, limits: SkillLimits, shown: str) -> FolderCheck:
    """How a folder differs from these files. Raises UnreadableSkill for one that cannot be read as a skill."""
    if not folder.is_dir() or folder.is_symlink():
        what = "a link" if folder.is_symlink() else "not there"
        gone = Difference(path=".", change=FileChangeKind.REMOVED, detail=f"the folder is {what}")
        return FolderCheck(folder=shown, digest="", differences=(gone,))
    content = read_folder(folder, limits=limits)
    differences = [*_differences(content, files), *_omitted(content)]
    if (folder / ".git").exists():
        differences.append(Difference(path=".git", change=FileChangeKind.ADDED, detail="no part of the skill"))
    ordered = tuple(sorted(differences, key=lambda one: one.path.encode()))
    return FolderCheck(folder=shown, digest=content_digest(content), differences=ordered)


def _differences(content: SkillContent, files: Sequence[VersionFile]) -> list[Difference]:
    here = {file.path: file for file in content.files}
    found = [Difference(path=path, change=FileChangeKind.ADDED) for path in here.keys() - {file.path for file in files}]
    for expected in files:
        file = here.get(expected.path)
        if file is None:
            found.append(Difference(path=expected.path, change=FileChangeKind.REMOVED))
        elif hashlib.sha256(file.content).hexdigest() != expected.sha256:
            size = f"{len(file.content)} bytes instead of {expected.size}" if len(file.content) != expected.size else ""
            found.append(Difference(path=expected.path, change=FileChangeKind.CHANGED, detail=size))
        elif file.executable != expected.executable:
            found.append(Difference(path=expected.path, change=FileChangeKind.MODE))
    return found


def _omitted(content: SkillContent) -> list[Difference]:
    return [
        Difference(path=entry.path, change=FileChangeKind.ADDED, detail=f"{entry.kind.value} {entry.detail}".strip())
        for entry in content.omitted
    ]
