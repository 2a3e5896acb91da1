"""A repository's listing, as `git ls-tree -r -t -z` writes it: which folders hold a skill, and what is in each of them.

The listing is a file that is read where it lies. Everything in a folder follows the folder's own line, so a skill is a
stretch of the file, and only the stretch that is asked for becomes objects. That git lists each tree in order, once, and
without slashes in names is what `fsck` has checked before anything is listed.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from vskill_platform.domain.content import SKILL_FILE_NAMES

REGULAR_MODES = frozenset({b"100644", b"100755"})
EXECUTABLE_MODE = b"100755"
SYMLINK_MODE = b"120000"
SUBMODULE_MODE = b"160000"
_TREE = b"tree"
_ENTRY = re.compile(rb"([0-7]{6}) (blob|tree|commit) ([0-9a-f]{40}|[0-9a-f]{64})\t([^\0]+)\0")
_SKILL_NAMES = frozenset(name.encode() for name in SKILL_FILE_NAMES)


class ListingTooLarge(Exception):
    """The listing has more entries or deeper folders than may be. The reason is for the error's fields."""


class ListingBroken(Exception):
    """The listing is not what git writes."""


class Entry(NamedTuple):
    """One line of the listing that is no folder. `path` is relative to the folder that was asked for."""

    mode: bytes
    id: str
    path: bytes


class Stretch(NamedTuple):
    """A folder that holds a skill: its path, the id of its tree, and where its entries lie in the listing."""

    path: bytes
    tree: str
    start: int
    end: int


class _OpenFolder:
    """A folder whose entries are passing by."""

    def __init__(self, path: bytes, tree: str, start: int) -> None:
        self.path = path
        self.prefix = path + b"/" if path else b""
        self.tree = tree
        self.start = start
        self.holds_skill = False

    def closed(self, end: int) -> Stretch:
        return Stretch(self.path, self.tree, self.start, end)


class TreeListing:
    """A listing in a file, open until `close`."""

    def __init__(self, file: Path, *, root_tree: str) -> None:
        self._root_tree = root_tree
        with file.open("rb") as opened:
            size = file.stat().st_size
            self._bytes = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) if size else None
        self._size = size

    def close(self) -> None:
        """Let go of the file."""
        if self._bytes is not None:
            self._bytes.close()

    def find_skills(self, *, max_files: int, max_depth: int) -> list[Stretch]:
        """Every folder that holds a skill, in the order of their paths. Raises ListingTooLarge or ListingBroken."""
        found: list[Stretch] = []
        above = [_OpenFolder(b"", self._root_tree, 0)]
        files = 0
        for start, end, kind, entry in self._lines(0, self._size):
            files += kind != _TREE
            if files > max_files:
                raise ListingTooLarge("files")
            if entry.path.count(b"/") > max_depth:
                raise ListingTooLarge("depth")
            while not entry.path.startswith(above[-1].prefix):
                _close(above.pop(), start, found)
            if kind == _TREE:
                above.append(_OpenFolder(entry.path, entry.id, end))
            elif entry.mode in REGULAR_MODES and entry.path[len(above[-1].prefix) :] in _SKILL_NAMES:
                above[-1].holds_skill = True
        for folder in above:
            _close(folder, self._size, found)
        return sorted(found)

    def has_folder(self, path: bytes) -> bool:
        """Whether the listing has a folder of this path; the root is always there."""
        if not path:
            return True
        line = re.compile(rb"(?:\A|\0)040000 tree [0-9a-f]+\t" + re.escape(path) + rb"\0")
        return self._bytes is not None and line.search(self._bytes) is not None

    def find_file(self, path: bytes) -> Entry | None:
        """What is listed at this very path and is no folder, or None."""
        line = re.compile(rb"(?:\A|\0)([0-7]{6}) (?:blob|commit) ([0-9a-f]+)\t" + re.escape(path) + rb"\0")
        found = None if self._bytes is None else line.search(self._bytes)
        return None if found is None else Entry(found[1], found[2].decode(), path)

    def entries(self, stretch: Stretch) -> Iterator[Entry]:
        """Everything in a skill's folder that is no folder, with paths relative to it."""
        cut = len(stretch.path) + 1 if stretch.path else 0
        for _, _, kind, entry in self._lines(stretch.start, stretch.end):
            if kind != _TREE:
                yield entry._replace(path=entry.path[cut:])

    def _lines(self, start: int, end: int) -> Iterator[tuple[int, int, bytes, Entry]]:
        if self._bytes is None:
            return
        position = start
        for line in _ENTRY.finditer(self._bytes, start, end):
            if line.start() != position:
                raise ListingBroken
            position = line.end()
            yield line.start(), position, line[2], Entry(line[1], line[3].decode(), line[4])
        if position != end:
            raise ListingBroken


def _close(folder: _OpenFolder, end: int, found: list[Stretch]) -> None:
    if folder.holds_skill:
        found.append(folder.closed(end))
