"""A SQLite VFS that watches, slows or fails what reaches the disk.

Registered under a name of its own; an engine is opened on it with `vfs=name`. The hooks run in the thread that does the
I/O. One that raises an `apsw` error before the I/O makes the call fail with that error, and the disk is left as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple
from uuid import uuid4

import apsw

_JOURNALS = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL | apsw.SQLITE_OPEN_WAL


class DiskAction(StrEnum):
    """What SQLite asks of a disk that changes what is on it."""

    OPEN = "open"
    WRITE = "write"
    SYNC = "sync"
    TRUNCATE = "truncate"
    DELETE = "delete"


class DiskCall(NamedTuple):
    """One call. `data` goes to `offset`; a truncation cuts at `offset`.

    `syncs_folder` says that the folder's entries reach the disk with this call: a deletion that asks for it, and the first
    sync of a journal that was opened to be created (SQLite's own VFS syncs the folder then).
    """

    action: DiskAction
    path: str
    offset: int = 0
    data: bytes = b""
    syncs_folder: bool = False


@dataclass(slots=True)
class DiskHooks:
    """What a test wants to know of, or to happen at, each call. Counts grow before the hooks run."""

    writes: int = 0
    syncs: int = 0

    def on_write(self, size: int) -> None:
        """Called before each write."""

    def on_sync(self) -> None:
        """Called before each sync."""

    def on_call(self, call: DiskCall) -> None:
        """Called before each call of any kind."""

    def on_done(self, call: DiskCall) -> None:
        """Called after each call that succeeded."""


class _HookedFile(apsw.VFSFile):
    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int], hooks: DiskHooks) -> None:
        self._hooks = hooks
        self._path = _path_of(name)
        self._syncs_folder = bool(flags[0] & apsw.SQLITE_OPEN_CREATE and flags[0] & _JOURNALS)
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._hooks.writes += 1
        self._hooks.on_write(len(data))
        call = DiskCall(DiskAction.WRITE, self._path, offset, bytes(data))
        self._hooks.on_call(call)
        super().xWrite(data, offset)
        self._hooks.on_done(call)

    def xSync(self, flags: int) -> None:
        self._hooks.syncs += 1
        self._hooks.on_sync()
        call = DiskCall(DiskAction.SYNC, self._path, syncs_folder=self._syncs_folder)
        self._hooks.on_call(call)
        super().xSync(flags)
        self._syncs_folder = False
        self._hooks.on_done(call)

    def xTruncate(self, newsize: int) -> None:
        call = DiskCall(DiskAction.TRUNCATE, self._path, newsize)
        self._hooks.on_call(call)
        super().xTruncate(newsize)
        self._hooks.on_done(call)


class _HookedVFS(apsw.VFS):
    def __init__(self, name: str, hooks: DiskHooks) -> None:
        self._hooks = hooks
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        call = DiskCall(DiskAction.OPEN, _path_of(name))
        self._hooks.on_call(call)
        file = _HookedFile(name, flags, self._hooks)
        self._hooks.on_done(call)
        return file

    def xDelete(self, filename: str, syncdir: bool) -> None:
        call = DiskCall(DiskAction.DELETE, filename, syncs_folder=bool(syncdir))
        self._hooks.on_call(call)
        super().xDelete(filename, syncdir)
        self._hooks.on_done(call)


def _path_of(name: str | apsw.URIFilename | None) -> str:
    """The path of a file; empty for one that SQLite makes for itself and deletes when it closes it."""
    return name.filename() if isinstance(name, apsw.URIFilename) else name or ""


@contextmanager
def hooked_vfs(hooks: DiskHooks) -> Iterator[str]:
    """The name of a VFS with these hooks, for as long as the block lasts."""
    name = f"hooked-{uuid4().hex}"
    vfs = _HookedVFS(name, hooks)
    try:
        yield name
    finally:
        vfs.unregister()
