"""Packages as their registries have them, by name: `NAME` of Python, `npm:NAME` of Node. Nothing of them is installed or run."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

TIMEOUT_S = 240
NODE = "npm:"


class Entry(NamedTuple):
    """A file of a package, by its path in the archive."""

    path: str
    content: bytes


def entries_of(name: str, *, most_bytes: int, wanted: Callable[[str], bool] = bool) -> Iterator[Entry]:
    """The files of a package whose paths are wanted, each up to so many bytes; none where it cannot be fetched."""
    with tempfile.TemporaryDirectory() as scratch:
        if name.startswith(NODE):
            yield from _of_node(name.removeprefix(NODE), scratch, most_bytes, wanted)
        else:
            yield from _of_python(name, scratch, most_bytes, wanted)


def _of_python(name: str, scratch: str, most_bytes: int, wanted: Callable[[str], bool]) -> Iterator[Entry]:
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--only-binary",
        ":all:",
        "-d",
        scratch,
        "--",
        name,
    ]
    if not _runs(pip, scratch):
        return
    for path in Path(scratch).glob("*.whl"):
        with zipfile.ZipFile(path) as wheel:
            for entry in wheel.infolist():
                if not entry.is_dir() and wanted(entry.filename):
                    with wheel.open(entry) as content:
                        yield Entry(entry.filename, content.read(most_bytes))


def _of_node(name: str, scratch: str, most_bytes: int, wanted: Callable[[str], bool]) -> Iterator[Entry]:
    if not _runs(["npm", "pack", "--silent", "--ignore-scripts", "--", name], scratch):
        return
    for path in Path(scratch).glob("*.tgz"):
        with tarfile.open(fileobj=io.BytesIO(path.read_bytes())) as package:
            for entry in package:
                content = package.extractfile(entry) if entry.isfile() and wanted(entry.name) else None
                if content is not None:
                    yield Entry(entry.name, content.read(most_bytes))


def _runs(command: list[str], folder: str) -> bool:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
