"""Putting a skill where an agent reads it: whole or not at all, and never over what is somebody else's.

The files are written and synced in a hidden folder beside the target, read back, and put in place by a rename. A client
that dies in between leaves hidden folders, which the next one clears; where it had just moved the old skill aside, the next
one moves it back.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from vskill_platform.domain.content import SkillContent, SkillFile, content_digest
from vskill_platform.domain.errors import FolderTaken, InstallFailed, UnreadableSkill
from vskill_platform.ingest.folder import read_folder
from vskill_platform.ingest.limits import SkillLimits

_LEFT = re.compile(r"\.vskill-(new|old)-(.+)-[0-9a-f]{16}")
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def check_target(folder: Path, *, ours: Collection[str], limits: SkillLimits) -> None:
    """Raise FolderTaken unless nothing is there, or something whose digest is one of `ours`."""
    if folder.is_symlink():
        raise _taken(folder, "is a link")
    if not folder.exists():
        return
    if not folder.is_dir():
        raise _taken(folder, "is no folder")
    if not any(folder.iterdir()):
        return
    if digest_here(folder, limits=limits) not in ours:
        raise _taken(folder, "has files that were not installed from here, or were changed since")


def digest_here(folder: Path, *, limits: SkillLimits) -> str:
    """The digest of what lies in a folder; empty where it holds what no installed skill does."""
    try:
        content = read_folder(folder, limits=limits)
    except UnreadableSkill:
        return ""
    return "" if content.omitted or (folder / ".git").exists() else content_digest(content)


def place(content: SkillContent, folders: list[Path], *, limits: SkillLimits) -> None:
    """Put a skill into each folder, in place of what is there. Raises InstallFailed, with everything as it was.

    All copies are on the disk before the first is put in place, so that a disk that fills up changes nothing.
    """
    staged: list[tuple[Path, Path]] = []
    try:
        with _told(folders):
            for folder in folders:
                folder.parent.mkdir(parents=True, exist_ok=True)
                clear_leftovers(folder.parent)
                staged.append((_hidden(folder, "new"), folder))
                _write(content, staged[-1][0], limits=limits)
            _swap_all(staged)
    finally:
        for new, _ in staged:
            shutil.rmtree(new, ignore_errors=True)


@contextmanager
def taken_away(folders: list[Path]) -> Iterator[None]:
    """Move folders out of sight: they are deleted where what follows goes well, and put back where it does not.

    A client that dies in between leaves hidden folders, which the next one clears. Raises InstallFailed.
    """
    moved: list[tuple[Path, Path]] = []
    try:
        with _told(folders, "removed from"):
            for folder in filter(os.path.lexists, folders):
                hidden = _hidden(folder, "new")
                os.rename(folder, hidden)
                moved.append((hidden, folder))
        yield
    except BaseException:
        for hidden, folder in reversed(moved):
            os.rename(hidden, folder)
        raise
    for hidden, folder in moved:
        _remove(hidden)
        _sync(folder.parent)


def clear_leftovers(parent: Path) -> None:
    """Undo what a client that died has left half done beside the skills of an agent."""
    for path in sorted(parent.iterdir()) if parent.is_dir() else ():
        found = _LEFT.fullmatch(path.name)
        if found is None or path.is_symlink():
            continue
        target = parent / found[2]
        if found[1] == "old" and not os.path.lexists(target):
            os.rename(path, target)
        else:
            shutil.rmtree(path)


def _swap_all(staged: list[tuple[Path, Path]]) -> None:
    """Put each copy in its place. Where one cannot be, those before it are taken out again."""
    done: list[tuple[Path, Path, Path | None]] = []
    try:
        for new, folder in staged:
            done.append((new, folder, _swap(new, folder)))
    except OSError:
        for new, folder, old in reversed(done):
            os.rename(folder, new)
            if old is not None:
                os.rename(old, folder)
        raise
    for _, _, old in done:
        if old is not None:
            _remove(old)


def _swap(new: Path, folder: Path) -> Path | None:
    """Put a copy in its place, and say where what was there is now."""
    old = _hidden(folder, "old") if os.path.lexists(folder) else None
    if old is not None:
        os.rename(folder, old)
    try:
        os.rename(new, folder)
    except OSError:
        if old is not None:
            os.rename(old, folder)
        raise
    _sync(folder.parent)
    return old


def _remove(old: Path) -> None:
    if old.is_symlink() or old.is_file():
        old.unlink()
    else:
        shutil.rmtree(old)


def _write(content: SkillContent, folder: Path, *, limits: SkillLimits) -> None:
    folder.mkdir()
    for file in content.files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_file(path, file)
    for inner in {path.parent for path in folder.rglob("*")}:
        _sync(inner)
    if digest_here(folder, limits=limits) != content_digest(content):
        raise InstallFailed(f"What was written below {folder.parent} does not read back as it was. Look at the disk.")


def _write_file(path: Path, file: SkillFile) -> None:
    descriptor = os.open(path, _NEW_FILE, 0o777 if file.executable else 0o666)
    with open(descriptor, "wb") as opened:
        opened.write(file.content)
        opened.flush()
        os.fsync(descriptor)


def _hidden(folder: Path, kind: str) -> Path:
    return folder.with_name(f".vskill-{kind}-{folder.name}-{token_hex(8)}")


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _told(folders: list[Path], what: str = "written to") -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        where = ", ".join(str(folder) for folder in folders)
        raise InstallFailed(
            f"The skill could not be {what} {where} ({exc.strerror}). Nothing was left half done; mend that and try again."
        ) from exc


def _taken(folder: Path, why: str) -> FolderTaken:
    return FolderTaken(f"{folder} {why}. Move it away, or go over it with --force.", path=str(folder))
