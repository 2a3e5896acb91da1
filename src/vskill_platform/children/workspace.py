"""Private folders for what children read and write: mode 0700, gone when their block ends, cleared up after a process that died.

Each opened workspace has a folder of its own under `root` and holds a lock on it. The kernel gives the lock back however
the process ends, so a folder whose lock can be taken is one that nobody will ever remove: the next to open does.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from vskill_platform.domain.errors import VskillError


class Workspace:
    """Where private folders are made between `open` and `close`.

    `holds` says in words what they are for, and `refusal` is the error where none can be made. Workspaces that share a root
    and a `prefix` clear up after each other.
    """

    def __init__(self, root: Path | None = None, *, prefix: str, holds: str, refusal: type[VskillError]) -> None:
        self._prefix = prefix
        self._holds = holds
        self._refusal = refusal
        self._root = root if root is not None else Path(tempfile.gettempdir())
        self._folder: Path | None = None
        self._lock = -1

    async def open(self) -> None:
        """Make this workspace's own folder and remove those of processes that died."""
        await asyncio.to_thread(self._open)

    async def close(self) -> None:
        """Remove everything."""
        if self._folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
            os.close(self._lock)
            self._folder = None

    @asynccontextmanager
    async def folder(self) -> AsyncIterator[Path]:
        """A fresh private folder while the block lasts."""
        assert self._folder is not None, "the workspace is not open"
        with self._translated_errors(self._folder):
            folder = Path(tempfile.mkdtemp(dir=self._folder))
        try:
            yield folder
        finally:
            # A thread goes on when its task is cancelled: the folder goes in any case.
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def _open(self) -> None:
        with self._translated_errors(self._root):
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._remove_abandoned()
            while self._folder is None:
                self._folder = self._make_and_lock()

    def _make_and_lock(self) -> Path | None:
        """A folder that is ours; None where another that opens at this moment took it for abandoned before it was locked."""
        folder = Path(tempfile.mkdtemp(prefix=self._prefix, dir=self._root))
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            folder.stat()
        except (BlockingIOError, FileNotFoundError):
            os.close(descriptor)
            return None
        self._lock = descriptor
        return folder

    def _remove_abandoned(self) -> None:
        for folder in self._root.glob(f"{self._prefix}*"):
            with suppress(OSError):  # in use, not ours, or just removed by another
                descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
                finally:
                    os.close(descriptor)

    @contextmanager
    def _translated_errors(self, folder: Path) -> Iterator[None]:
        try:
            yield
        except OSError as exc:
            raise self._refusal(
                f"No folder for {self._holds} can be made in {folder}: {exc.strerror}. Make room or permit it."
            ) from exc
