"""Making a bare repository of files that are here: one commit, always the same for the same files, and no working tree."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from vskill_platform.domain.content import SkillFile

BRANCH = "main"
_WHO = "vskill-platform <registry@localhost> 0 +0000"
_LIMIT_S = 60.0
_ENVIRONMENT = {"PATH": os.defpath, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C"}


def write_bare_repository(path: Path, files: Iterable[SkillFile], *, message: str) -> None:
    """Make a bare repository at `path` whose only commit holds these files."""
    _git(path, "init", "--quiet", "--bare", f"--initial-branch={BRANCH}", str(path))
    stream = [f"commit refs/heads/{BRANCH}\ncommitter {_WHO}\n".encode(), _data(message.encode())]
    stream += [_entry(file) for file in files]
    _git(path, f"--git-dir={path}", "fast-import", "--quiet", given=b"".join([*stream, b"\ndone\n"]))


def _entry(file: SkillFile) -> bytes:
    quoted = "".join(f"\\{byte:03o}" for byte in file.path.encode())
    mode = "100755" if file.executable else "100644"
    return f'M {mode} inline "{quoted}"\n'.encode() + _data(file.content)


def _data(content: bytes) -> bytes:
    return b"data %d\n" % len(content) + content + b"\n"


def _git(path: Path, *arguments: str, given: bytes = b"") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["git", *arguments], input=given, check=True, capture_output=True, timeout=_LIMIT_S, env=_ENVIRONMENT
    )
