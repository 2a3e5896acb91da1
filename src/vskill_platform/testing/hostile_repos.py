"""Bare repositories written object by object, without a git process: nothing is too wrong, too deep or too many for them."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from pathlib import Path

from vskill_platform.testing.git_repos import REGULAR, TREE, Entry, Files, TreeEntry

_WHO = "A Tester <tester@example.org> 1700000000 +0000"
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[uploadpack]\n\tallowFilter = true\n"


class RawRepository:
    """A bare repository on disk whose every byte the test has chosen."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.path.mkdir(parents=True)
        for folder in ("objects", "refs/heads", "refs/tags"):
            (path / folder).mkdir(parents=True)
        (path / "HEAD").write_text("ref: refs/heads/main\n")
        (path / "config").write_text(_CONFIG)

    def blob(self, content: bytes) -> str:
        """Store a file's bytes. Returns their id."""
        return self.store("blob", content)

    def tree(self, entries: Iterable[TreeEntry]) -> str:
        """Store a tree of exactly these lines in exactly this order."""
        return self.store("tree", tree_bytes(entries))

    def files(self, files: Files) -> str:
        """Store a proper tree of these files. Returns the id of its root."""
        below: dict[str, dict[str, bytes | Entry]] = {}
        entries: list[TreeEntry] = []
        for path, entry in files.items():
            first, slash, rest = path.partition("/")
            if slash:
                below.setdefault(first, {})[rest] = entry
            else:
                entries.append(self._entry(first, entry))
        entries += [TreeEntry(TREE, _raw(name), self.files(inner)) for name, inner in below.items()]
        return self.tree(sorted(entries, key=_order))

    def commit_tree(self, tree: str, *, branch: str = "main", parent: str | None = None) -> str:
        """Put a branch at a commit of this tree, without history unless a parent is named. Returns the commit's id."""
        commit = self.store("commit", commit_bytes(tree, parent=parent))
        self.point(f"refs/heads/{branch}", commit)
        return commit

    def commit(self, files: Files, *, branch: str = "main", parent: str | None = None) -> str:
        """Put a branch at a commit of these files and no others."""
        return self.commit_tree(self.files(files), branch=branch, parent=parent)

    def point(self, ref: str, id: str) -> None:
        """Put a ref at an object."""
        file = self.path / ref
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{id}\n")

    def store(self, kind: str, content: bytes) -> str:
        """Store an object of any kind. Returns its id."""
        whole = f"{kind} {len(content)}\0".encode() + content
        id = hashlib.sha1(whole).hexdigest()
        file = self.path / "objects" / id[:2] / id[2:]
        if not file.exists():
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(zlib.compress(whole, 1))
        return id

    def _entry(self, name: str, entry: bytes | Entry) -> TreeEntry:
        content, mode = entry if isinstance(entry, Entry) else (entry, REGULAR)
        return TreeEntry(mode, _raw(name), content.decode() if mode == "160000" else self.blob(content))


def tree_bytes(entries: Iterable[TreeEntry]) -> bytes:
    """A tree as git stores it."""
    return b"".join(f"{entry.mode} ".encode() + entry.name + b"\0" + bytes.fromhex(entry.id) for entry in entries)


def commit_bytes(tree: str, *, parent: str | None = None) -> bytes:
    """A commit as git stores it."""
    parents = f"parent {parent}\n" if parent else ""
    return f"tree {tree}\n{parents}author {_WHO}\ncommitter {_WHO}\n\na commit\n".encode()


def nest(repository: RawRepository, tree: str, *, depth: int, name: bytes = b"d") -> str:
    """A tree in a tree in a tree: this many around the given one."""
    for _ in range(depth):
        tree = repository.tree([TreeEntry(TREE, name, tree)])
    return tree


def _raw(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _order(entry: TreeEntry) -> bytes:
    return entry.name + b"/" if entry.mode == TREE else entry.name
