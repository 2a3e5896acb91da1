"""A SQLite VFS that watches, slows or fails what reaches the disk.

Registered under a name of its own; an engine is opened on it with `vfs=name`. The hooks run in the thread that does the
I/O, before the I/O itself: one that raises an `apsw` error makes the call fail with that error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

import apsw


@dataclass(slots=True)
class DiskHooks:
    """What a test wants to know of, or to happen at, each write and each sync. Counts grow before the hooks run."""

    writes: int = 0
    syncs: int = 0

    def on_write(self, size: int) -> None:
        """Called before each write."""

    def on_sync(self) -> None:
        """Called before each sync."""


class _HookedFile(apsw.VFSFile):
    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int], hooks: DiskHooks) -> None:
        super().__init__("", name, flags)
        self._hooks = hooks

    def xWrite(self, data: bytes, offset: int) -> None:
        self._hooks.writes += 1
        self._hooks.on_write(len(data))
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._hooks.syncs += 1
        self._hooks.on_sync()
        super().xSync(flags)


class _HookedVFS(apsw.VFS):
    def __init__(self, name: str, hooks: DiskHooks) -> None:
        self._hooks = hooks
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return _HookedFile(name, flags, self._hooks)


@contextmanager
def hooked_vfs(hooks: DiskHooks) -> Iterator[str]:
    """The name of a VFS with these hooks, for as long as the block lasts."""
    name = f"hooked-{uuid4().hex}"
    vfs = _HookedVFS(name, hooks)
    try:
        yield name
    finally:
        vfs.unregister()
