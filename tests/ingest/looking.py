"""What a test looks at after a fetch: processes, files and errors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vskill_platform.domain.errors import VskillError
from vskill_platform.ingest.git import GitSource


async def refused(source: GitSource, url: str, error: type[VskillError], *, tree_path: str = "") -> VskillError:
    """The error that a fetch ends in, which must be exactly this one and safe to show."""
    with pytest.raises(VskillError) as caught:
        async with source.fetch(url, tree_path=tree_path):
            pass
    assert type(caught.value) is error, f"{caught.value!r} {caught.value.fields}"
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 700
    return caught.value


def processes_of(folder: Path) -> list[str]:
    """Every living process that was started to work in a folder or below it, by what its environment says."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                surroundings = (process / "environ").read_bytes()
                state = (process / "stat").read_text().rpartition(")")[2].split()[0]
                words = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if f"HOME={folder}".encode() in surroundings and state != "Z":
                found.append(words.replace(b"\0", b" ").decode(errors="replace"))
    return found


def files_below(folder: Path) -> list[str]:
    """Every file and folder below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
