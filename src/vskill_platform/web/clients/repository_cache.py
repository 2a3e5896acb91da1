"""Folders of repositories that are kept for those who come after: each is whole or not there, and never changed.

Any number of processes may share the folder. What was asked for lately is left alone, since git may be reading it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog

IN_USE_S = 900.0
"""How long a repository is left alone after it was last asked for: longer than an answer of git may take."""
_MAKING = ".making-"
_log = structlog.get_logger(__name__)


def touch(place: Path) -> bool:
    """Note that a repository is asked for. False where there is none."""
    try:
        os.utime(place)
    except FileNotFoundError:
        return False
    return True


@contextmanager
def workshop(cache: Path) -> Iterator[Path]:
    """A folder to make a repository in; gone at the end."""
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=_MAKING, dir=cache, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def put_in_place(made: Path, place: Path) -> None:
    """Give a repository its name, whole. Where another process was faster, its own is as good."""
    place.parent.mkdir(mode=0o700, exist_ok=True)
    try:
        made.rename(place)
    except OSError:
        if not touch(place):
            raise


def make_room(cache: Path, *, most_bytes: int) -> None:
    """Remove what was not asked for in longest, until the rest fits. What may be in use stays, however much it is."""
    kept = sorted((_used_at(path), path) for path in [*cache.glob("*/*.git"), *cache.glob(f"{_MAKING}*")])
    sizes = {path: _size(path) for _, path in kept}
    total = sum(sizes.values())
    for _, path in kept:
        is_left_over = path.name.startswith(_MAKING)
        if (total > most_bytes or is_left_over) and _used_at(path) < time.time() - IN_USE_S:
            _remove(path, cache)
            total -= sizes[path]
            _log.info("git_repository_removed", path=str(path), bytes=sizes[path])


def _used_at(path: Path) -> float:
    """When it was last asked for; at this moment where it has just gone."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return time.time()


def _size(path: Path) -> int:
    """Of what is there: another process may be moving or removing it meanwhile."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            with suppress(FileNotFoundError):
                total += Path(folder, name).lstat().st_size
    return total


def _remove(path: Path, cache: Path) -> None:
    """Take the name away first, so that nobody finds a half of it."""
    with suppress(OSError), tempfile.TemporaryDirectory(prefix=_MAKING, dir=cache, ignore_cleanup_errors=True) as trash:
        shutil.move(path, trash)
