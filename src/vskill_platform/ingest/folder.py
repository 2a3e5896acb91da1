"""A skill in a folder on disk, read the way a repository's is: links are never followed and every read is bounded.

Every folder is opened from its parent's descriptor and every file with O_NOFOLLOW, so that nothing that is swapped for a
link meanwhile can lead the reader out of the folder it was given.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from vskill_platform.domain.content import SKILL_FILE_NAMES, Omitted, OmittedKind, SkillContent, SkillFile, make_content
from vskill_platform.domain.errors import UnreadableSkill
from vskill_platform.ingest.escaping import printable
from vskill_platform.ingest.limits import SkillLimits, check_depth, check_files, check_total
from vskill_platform.ingest.paths import check_collisions, check_path

SEARCH_MAX_ENTRIES = 2_000_000
SEARCH_MAX_DEPTH = 128
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_REPOSITORY = b".git"


class _Entry(NamedTuple):
    """Something in the folder that is no folder; `parent` is the open descriptor of the folder it is in."""

    parent: int
    name: bytes
    path: str


def read_folder(path: Path, *, limits: SkillLimits) -> SkillContent:
    """The content of the skill in this folder, without a `.git` at its top.

    Raises UnreadableSkill, SkillTooLarge or UnsafePath.
    """
    reader = _FolderReader(limits)
    with _translated_errors(path), _opened(path) as descriptor:
        for entry in reader.walk(descriptor):
            reader.take(entry)
    check_collisions([*(file.path for file in reader.files), *(entry.path for entry in reader.omitted)])
    return make_content(reader.files, reader.omitted)


def find_skill_folders(root: Path, *, max_entries: int = SEARCH_MAX_ENTRIES) -> list[Path]:
    """Every folder at or below `root` that holds a SKILL.md, in the order of their paths. Links are not followed."""
    found: list[Path] = []
    seen = 0
    with _translated_errors(root):
        if not root.is_dir():
            raise NotADirectoryError
        for folder, folders, files in os.walk(root, onerror=_raise):
            here = Path(folder)
            seen += len(folders) + len(files)
            if seen > max_entries or len(here.parts) - len(root.parts) > SEARCH_MAX_DEPTH:
                raise UnreadableSkill(
                    f"'{printable(str(root))}' has more than {max_entries} files or {SEARCH_MAX_DEPTH} nested folders. "
                    "Name a smaller folder.",
                    path=printable(str(root)),
                )
            folders[:] = sorted(name for name in folders if name != ".git")
            if any(name in files and _is_regular(here / name) for name in SKILL_FILE_NAMES):
                found.append(here)
    return sorted(found)


class _FolderReader:
    """Walks one folder and keeps what it finds there, up to the limits."""

    def __init__(self, limits: SkillLimits) -> None:
        self._limits = limits
        self._size = 0
        self._listed = 0
        self.files: list[SkillFile] = []
        self.omitted: list[Omitted] = []

    def walk(self, descriptor: int, *, above: str = "") -> Iterator[_Entry]:
        """Every entry below an open folder that is no folder itself."""
        for name, is_folder in self._list(descriptor):
            if not above and is_folder and name == _REPOSITORY:
                continue
            path = check_path(os.fsencode(above) + name)
            check_depth(path, limits=self._limits)
            if not is_folder:
                yield _Entry(descriptor, name, path)
                continue
            below = os.open(name, _FOLDER_FLAGS, dir_fd=descriptor)
            try:
                yield from self.walk(below, above=f"{path}/")
            finally:
                os.close(below)

    def _list(self, descriptor: int) -> list[tuple[bytes, bool]]:
        """The names in an open folder, in order. No skill has more names than each file under folders of its own."""
        listed: list[tuple[bytes, bool]] = []
        most = self._limits.files * (self._limits.depth + 1)
        with os.scandir(descriptor) as entries:
            for entry in entries:
                listed.append((os.fsencode(entry.name), entry.is_dir(follow_symlinks=False)))
                self._listed += 1
                if self._listed > most:
                    check_files(self._listed, limits=self._limits)
        return sorted(listed)

    def take(self, entry: _Entry) -> None:
        """Keep an entry: a regular file with its bytes, anything else with the reason why it is left out."""
        check_files(len(self.files) + len(self.omitted) + 1, limits=self._limits)
        kind = os.stat(entry.name, dir_fd=entry.parent, follow_symlinks=False).st_mode
        if stat.S_ISLNK(kind):
            target = printable(os.readlink(entry.name, dir_fd=entry.parent))
            self.omitted.append(Omitted(path=entry.path, kind=OmittedKind.SYMLINK, detail=target))
        elif stat.S_ISREG(kind):
            self._read(entry)
        else:
            self.omitted.append(Omitted(path=entry.path, kind=OmittedKind.SPECIAL))

    def _read(self, entry: _Entry) -> None:
        descriptor = os.open(entry.name, _FILE_FLAGS, dir_fd=entry.parent)
        with open(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                self.omitted.append(Omitted(path=entry.path, kind=OmittedKind.SPECIAL))
                return
            # One byte more than a file may have: a file that grows while it is read cannot go on for ever.
            content = file.read(self._limits.file_bytes + 1)
        if len(content) > self._limits.file_bytes:
            size = str(max(found.st_size, len(content)))
            self.omitted.append(Omitted(path=entry.path, kind=OmittedKind.TOO_LARGE, detail=size))
            return
        self._size += len(content)
        check_total(self._size, limits=self._limits)
        executable = bool(found.st_mode & stat.S_IXUSR)
        self.files.append(SkillFile(path=entry.path, content=content, executable=executable))


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    # The folder a person names may itself be a link: it is theirs to name. Nothing below it is followed.
    descriptor = os.open(path, _FOLDER_FLAGS & ~os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_regular(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)


def _raise(error: OSError) -> None:
    raise error


@contextmanager
def _translated_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        shown = printable(str(path))
        why = exc.strerror or "not a folder"
        raise UnreadableSkill(f"The folder '{shown}' cannot be read: {why}.", path=shown) from exc
