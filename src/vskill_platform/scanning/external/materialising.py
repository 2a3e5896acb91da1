"""A skill's files on disk, for programs that read from there: regular files under their own names, which nobody may change.

Nothing is a link. A script that names its interpreter may be executed as far as its mode goes, since tools tell scripts by
that; nothing executes it. The folder is private and goes with its workspace.
"""

from __future__ import annotations

import os
from pathlib import Path

from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.errors import UnsafePath

_FILE_MODE = 0o400
_SCRIPT_MODE = 0o500
_FOLDER_MODE = 0o700


def materialise(content: SkillContent, folder: Path) -> None:
    """Write the files into a folder, which is made. Raises UnsafePath for a name that would lie elsewhere."""
    folder.mkdir(mode=_FOLDER_MODE)
    for file in content.files:
        path = folder.joinpath(*_parts(file.path))
        path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        _write(path, file.content)


def _parts(path: str) -> list[str]:
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise UnsafePath("A file of the skill has a name that is no path below its folder. It is not written.")
    return parts


def _write(path: Path, data: bytes) -> None:
    """Only ever a new file: a name that is there already, be it as a link, is refused."""
    mode = _SCRIPT_MODE if data.startswith(b"#!") else _FILE_MODE
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with open(descriptor, "wb") as file:
        file.write(data)
