"""Small bare repositories made by real git: ordinary ones from a dict of files, and forged ones that git would not make."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

REGULAR = "100644"
EXECUTABLE = "100755"
SYMLINK = "120000"
GITLINK = "160000"
TREE = "40000"
NO_OBJECT = "1" * 40
SKILL_MD = b"---\nname: sample\ndescription: A sample skill.\n---\nSay hello.\n"
_MADE_S = 1_700_000_000
_WHO = f"A Tester <tester@example.org> {_MADE_S} +0000"


class Entry(NamedTuple):
    """One entry of a commit. For a gitlink the content is the id of a commit elsewhere."""

    content: bytes
    mode: str = REGULAR


class TreeEntry(NamedTuple):
    """One line of a tree, as it is to stand there, whether git would write it or not."""

    mode: str
    name: bytes
    id: str


Files = Mapping[str, bytes | Entry]


def executable(content: bytes) -> Entry:
    """A file that may be run."""
    return Entry(content, EXECUTABLE)


def symlink(target: str | bytes) -> Entry:
    """A symbolic link."""
    return Entry(target.encode() if isinstance(target, str) else target, SYMLINK)


def gitlink(commit: str = NO_OBJECT) -> Entry:
    """A submodule's place in the tree."""
    return Entry(commit.encode(), GITLINK)


class BareRepository:
    """A bare repository on disk that serves partial fetches, as the big hosts do: made anew, or as it is there."""

    def __init__(self, path: Path, *, branch: str = "main") -> None:
        self.path = path
        if (path / "HEAD").exists():
            return
        self._run(["init", "--quiet", "--bare", f"--initial-branch={branch}", str(path)], inside=False)
        self._run(["config", "uploadpack.allowFilter", "true"])

    def commit(self, files: Files, *, branch: str = "main", made_s: int = _MADE_S) -> str:
        """Commit these files, and no others, on a branch, at a moment. Returns the commit's id."""
        who = f"A Tester <tester@example.org> {made_s} +0000"
        lines = [f"commit refs/heads/{branch}\ncommitter {who}\n".encode(), _data(b"a commit")]
        if self.ref(f"refs/heads/{branch}") is not None:
            lines.append(f"from refs/heads/{branch}^0\ndeleteall\n".encode())
        lines.extend(_file(path, entry) for path, entry in files.items())
        self._run(["fast-import", "--quiet"], given=b"".join(lines) + b"\ndone\n")
        commit = self.ref(f"refs/heads/{branch}")
        assert commit is not None
        return commit

    def blob(self, content: bytes) -> str:
        """Store bytes. Returns their id."""
        return self._run(["hash-object", "-w", "--stdin"], given=content)

    def forge_tree(self, entries: Iterable[TreeEntry]) -> str:
        """Store a tree with exactly these lines in exactly this order, however wrong. Returns its id."""
        lines = (f"{entry.mode} ".encode() + entry.name + b"\0" + bytes.fromhex(entry.id) for entry in entries)
        return self._run(["hash-object", "-w", "-t", "tree", "--stdin", "--literally"], given=b"".join(lines))

    def forge_commit(self, tree: str, *, author: str = _WHO, branch: str = "main") -> str:
        """Store a commit of a tree with this author line, however wrong, and put a branch at it."""
        text = f"tree {tree}\nauthor {author}\ncommitter {_WHO}\n\na commit\n".encode()
        commit = self._run(["hash-object", "-w", "-t", "commit", "--stdin", "--literally"], given=text)
        self.point(f"refs/heads/{branch}", commit)
        return commit

    def point(self, ref: str, id: str) -> None:
        """Put a ref at an object."""
        self._run(["update-ref", ref, id])

    def tag(self, name: str, commit: str) -> str:
        """An annotated tag. Returns the id of the tag's own object."""
        text = f"object {commit}\ntype commit\ntag {name}\ntagger {_WHO}\n\na tag\n".encode()
        id = self._run(["mktag"], given=text)
        self.point(f"refs/tags/{name}", id)
        return id

    def ref(self, name: str) -> str | None:
        """The id a ref stands at, or None."""
        found = self._run(["for-each-ref", "--format=%(objectname)", name])
        return found or None

    def tree_of(self, revision: str) -> str:
        """The id of a commit's tree, or of a folder in it (`main:skills/a`)."""
        return self._run(["rev-parse", f"{revision}" if ":" in revision else f"{revision}^{{tree}}"])

    def _run(self, arguments: Sequence[str], *, given: bytes = b"", inside: bool = True) -> str:
        place = [f"--git-dir={self.path}"] if inside else []
        done = subprocess.run(
            ["git", *place, *arguments], input=given, capture_output=True, check=False, timeout=60, env=_environment()
        )
        if done.returncode != 0:
            raise AssertionError(f"git {arguments[0]}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode().strip()


def make_repository(path: Path, files: Files) -> BareRepository:
    """A repository with one commit of these files on its default branch."""
    repository = BareRepository(path)
    repository.commit(files)
    return repository


def nest_trees(repository: BareRepository, tree: str, *, depth: int, name: bytes = b"d") -> str:
    """A tree in a tree in a tree: this many around the given one."""
    for _ in range(depth):
        tree = repository.forge_tree([TreeEntry(TREE, name, tree)])
    return tree


def _file(path: str, entry: bytes | Entry) -> bytes:
    content, mode = entry if isinstance(entry, Entry) else (entry, REGULAR)
    quoted = '"' + "".join(f"\\{byte:03o}" for byte in path.encode("utf-8", "surrogateescape")) + '"'
    if mode == GITLINK:
        return f"M {mode} {content.decode()} {quoted}\n".encode()
    return f"M {mode} inline {quoted}\n".encode() + _data(content)


def _data(content: bytes) -> bytes:
    return b"data %d\n" % len(content) + content + b"\n"


def _environment() -> dict[str, str]:
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in _IDENTITY.items()}
    alone = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C"}
    return {"PATH": os.environ["PATH"], **who, **alone}


_IDENTITY = {"NAME": "A Tester", "EMAIL": "tester@example.org", "DATE": "1700000000 +0000"}
