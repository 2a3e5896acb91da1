"""Making a bare repository of files that are here: the same commits for the same files, always, and no working tree."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, NamedTuple

from vskill_platform.domain.content import SkillFile
from vskill_platform.web.clients.git_objects import WHO, file_mode

BRANCH = "main"
_LIMIT_S = 60.0
_ENVIRONMENT = {"PATH": os.defpath, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C"}
_ONE_PACK = ("-c", "fastimport.unpackLimit=1", "-c", "core.fsync=none")
"""All objects in one file. What a power cut leaves of it is made anew."""


class Commit(NamedTuple):
    """Files and a message, to be committed at a ref: on top of what was committed there before, in place of its files."""

    ref: str
    files: Iterable[SkillFile]
    message: str


def write_bare_repository(path: Path, files: Iterable[SkillFile], *, message: str) -> None:
    """Make a bare repository at `path` whose only commit holds these files."""
    _init(path)
    stream = _commit(Commit(f"refs/heads/{BRANCH}", files, message))
    _git(f"--git-dir={path}", "fast-import", "--quiet", given=stream + b"done\n")


def write_commits(stream: IO[bytes], commits: Iterable[Commit]) -> None:
    """Add commits to what `import_commits` is to read."""
    for commit in commits:
        stream.write(_commit(commit))


def import_commits(path: Path, stream: Path) -> dict[str, str]:
    """Make a bare repository at `path` from a file of commits. Gives the ids that its refs have."""
    _init(path)
    with stream.open("rb") as given:
        _git(f"--git-dir={path}", *_ONE_PACK, "fast-import", "--quiet", read_from=given)
    listed = _git(f"--git-dir={path}", "for-each-ref", "--format=%(refname) %(objectname)").decode()
    return {name: identity for name, _, identity in (line.partition(" ") for line in listed.splitlines())}


def _init(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    _git("init", "--quiet", "--bare", "--template=", f"--initial-branch={BRANCH}", str(path))


def _commit(commit: Commit) -> bytes:
    head = f"commit {commit.ref}\ncommitter {WHO}\n".encode() + _data(commit.message.encode())
    return b"".join([head, b"deleteall\n", *(_entry(file) for file in commit.files), b"\n"])


def _entry(file: SkillFile) -> bytes:
    quoted = "".join(f"\\{byte:03o}" for byte in file.path.encode())
    return f'M {file_mode(file)} inline "{quoted}"\n'.encode() + _data(file.content)


def _data(content: bytes) -> bytes:
    return b"data %d\n" % len(content) + content + b"\n"


def _git(*arguments: str, given: bytes = b"", read_from: IO[bytes] | None = None) -> bytes:
    fed: dict[str, Any] = {"input": given} if read_from is None else {"stdin": read_from}
    done = subprocess.run(
        ["git", *arguments], check=True, capture_output=True, timeout=_LIMIT_S, env=_ENVIRONMENT, **fed
    )
    return bytes(done.stdout)
