"""Who owns a data folder. One process at a time, by a lock that the kernel takes back when the process ends, however it ends."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from vskill_platform.domain.errors import DatabaseReadOnly, DataFolderOwned
from vskill_platform.engines.folders import make_folder

LOCK_NAME = "vskill-platform.lock"
_TRIES = 5
_BETWEEN_TRIES_S = 0.05


class Ownership:
    """The lock on a folder, held until `release`. The file says whose it is; the lock on it is what counts."""

    def __init__(self, folder: Path) -> None:
        self._descriptor = _open_lock(folder)
        try:
            _lock(self._descriptor)
        except BlockingIOError as exc:
            pid = _read_pid(self._descriptor)
            os.close(self._descriptor)
            raise DataFolderOwned(
                f"The data folder {folder} belongs to process {pid}, which is running. "
                "Stop it first, or give this one a folder of its own.",
                folder=str(folder),
                pid=pid,
            ) from exc
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Give the folder up."""
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)


def _lock(descriptor: int) -> None:
    """Take the lock. Whoever merely looks (`find_owner`) holds it for a moment, so one refusal is not the last word."""
    for _ in range(_TRIES - 1):
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_BETWEEN_TRIES_S)
    return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def find_owner(folder: Path) -> int | None:
    """The pid of the process that owns the folder, or None. Raises DatabaseReadOnly where that cannot be known."""
    try:
        descriptor = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise DatabaseReadOnly(
            f"Who owns the data folder {folder} cannot be known ({exc.strerror}). Run this as the user that owns it.",
            folder=str(folder),
        ) from exc
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read_pid(descriptor)
    finally:
        os.close(descriptor)
    return None


def _open_lock(folder: Path) -> int:
    try:
        make_folder(folder)
        return os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as exc:
        raise DatabaseReadOnly(
            f"The data folder {folder} cannot be written ({exc.strerror}). Give this user the right to, or name another.",
            folder=str(folder),
        ) from exc


def _read_pid(descriptor: int) -> int:
    text = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
    return int(text) if text.isdigit() else 0
