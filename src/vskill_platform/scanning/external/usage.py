"""What a process and everything it has started use, by what the kernel tells of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_MOST_LOOKED_AT = 10_000


class Usage(NamedTuple):
    """How many processes there are, and the memory that is theirs alone."""

    processes: int
    memory_bytes: int


def family_usage(pid: int) -> Usage:
    """The usage of a process and of all its descendants. What ends while it is looked at counts for nothing."""
    waiting, processes, pages = [pid], 0, 0
    while waiting and processes < _MOST_LOOKED_AT:
        one = waiting.pop()
        processes += 1
        pages += _own_pages(one)
        waiting.extend(_children(one))
    return Usage(processes, pages * _PAGE_BYTES)


def _own_pages(pid: int) -> int:
    fields = _read(f"/proc/{pid}/statm").split()
    return int(fields[1]) - int(fields[2]) if len(fields) > 2 else 0


def _children(pid: int) -> Iterator[int]:
    """Children belong to the thread that started them, so every thread is asked."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for thread in threads:
        yield from map(int, _read(f"/proc/{pid}/task/{thread}/children").split())


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except OSError:
        return ""
