"""Reads: point reads inline on the event loop, everything larger on a small pool of threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

import apsw

from vskill_platform.domain.errors import EngineClosed
from vskill_platform.engines.sqlite.connection import close_quietly, open_reader, translated_errors

T = TypeVar("T")
READER_THREADS = 2


class Readers:
    """The reading connections of one engine."""

    def __init__(self, path: Path, *, vfs: str | None = None) -> None:
        self._path = path
        self._is_closed = False
        self._connections: list[apsw.Connection] = []
        try:
            for _ in range(1 + READER_THREADS):
                self._connections.append(open_reader(path, vfs=vfs))
        except BaseException:
            self.close_connections()
            raise
        self._inline, *pooled = self._connections
        self._idle: SimpleQueue[apsw.Connection] = SimpleQueue()
        for connection in pooled:
            self._idle.put(connection)
        self._threads = ThreadPoolExecutor(READER_THREADS, thread_name_prefix="sqlite-reader")

    def point(self, read: Callable[[apsw.Connection], T]) -> T:
        """A read of microseconds, on the calling thread, which must be the event loop's."""
        self.check_open()
        with translated_errors(self._path):
            return read(self._inline)

    async def bulk(self, read: Callable[[apsw.Connection], T]) -> T:
        """A read of any length, on a thread of the pool."""
        self.check_open()
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._read_pooled, read)

    def _read_pooled(self, read: Callable[[apsw.Connection], T]) -> T:
        connection = self._idle.get()
        try:
            with translated_errors(self._path):
                return read(connection)
        finally:
            self._idle.put(connection)

    async def close(self) -> None:
        """Let running reads end, then close every connection."""
        if self._is_closed:
            return
        self._is_closed = True
        await asyncio.to_thread(self._threads.shutdown)
        self.close_connections()

    def close_connections(self) -> None:
        """Close every connection; nobody may be reading."""
        for connection in self._connections:
            close_quietly(connection, self._path)

    def check_open(self) -> None:
        """Raise EngineClosed after close."""
        if self._is_closed:
            raise EngineClosed("The engine was closed.")
