"""What a case did to the machine: memory, files and processes, as the system sees them."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter

SAMPLE_S = 0.02
PATIENCE_S = 10.0
OUR_PROGRAMS = frozenset(
    {"sh", "dash", "bash", "git", "git-remote-http", "git-remote-https", "python", "python3", "false"}
)
"""What the registry itself starts: git through a shell that sets its limits, python for the scanner, and `false`, which git
asks for passwords so that nobody else is."""


class Measure:
    """The figures of one case, complete once its block has ended."""

    def __init__(self) -> None:
        self.elapsed_ms = 0.0
        self.own_kib = 0
        self.child_kib = 0
        self.programs: set[str] = set()


@contextmanager
def measured(steady: Iterable[int]) -> Iterator[Measure]:
    """Watch this process and all it starts while the block lasts. `steady` are children of the case's that were there before.

    Other children that were there before, such as a server for other tests, are left alone with all that they start.
    """
    measure = Measure()
    ours = {os.getpid(), *steady}
    for pid in ours:
        _forget_peak(pid)
    strangers = descendants().keys() - ours
    before_kib = _status_kib(os.getpid(), "VmRSS")
    ending = threading.Event()
    watcher = threading.Thread(target=_watch, args=(measure, ending, strangers), name="watcher")
    watcher.start()
    started = perf_counter()
    try:
        yield measure
    finally:
        measure.elapsed_ms = (perf_counter() - started) * 1e3
        ending.set()
        watcher.join()
        measure.own_kib = max(0, _status_kib(os.getpid(), "VmHWM") - before_kib)


def descendants(*, without: Collection[int] = ()) -> dict[int, str]:
    """Every living process below this one, with the name of its program; not those below the ones that are left out."""
    parents: dict[int, tuple[int, str]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(OSError, IndexError):
                name, _, rest = Path(f"/proc/{entry}/stat").read_text().partition("(")[2].rpartition(") ")
                if rest.split()[0] not in "ZX" and int(entry) not in without:
                    parents[int(entry)] = (int(rest.split()[1]), name)
    ours = {os.getpid()}
    while found := {pid for pid, (parent, _) in parents.items() if parent in ours and pid not in ours}:
        ours |= found
    return {pid: parents[pid][1] for pid in ours if pid in parents and pid != os.getpid()}


async def left_running(before: Mapping[int, str], *, allowed: Callable[[], Iterable[int]]) -> list[str]:
    """Programs that were started since and do not end by themselves soon."""

    def left() -> list[str]:
        known = {*before, *allowed()}
        return sorted(descendants(without=known).values())

    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_S):
            while left():  # noqa: ASYNC110  nothing tells when a process that is not our child has ended
                await asyncio.sleep(0.005)
    return left()


def snapshot(folders: Iterable[Path]) -> dict[str, tuple[int, int, int]]:
    """Every file and folder below these folders, with what tells whether it was touched."""
    found: dict[str, tuple[int, int, int]] = {}
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            with suppress(FileNotFoundError):
                stat = path.lstat()
                found[str(path)] = (stat.st_mode, stat.st_size if path.is_file() else 0, stat.st_mtime_ns)
    return found


def changed(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """The paths that came, went or were touched."""
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))


def _watch(measure: Measure, ending: threading.Event, strangers: Set[int]) -> None:
    ours = _command_line(os.getpid())
    while True:
        is_last = ending.wait(SAMPLE_S)
        for pid, name in descendants(without=strangers).items():
            if _command_line(pid) == ours:
                continue  # between fork and exec it is this process once more, with all its memory
            measure.programs.add(_program(pid) or name)
            measure.child_kib = max(measure.child_kib, _status_kib(pid, "VmHWM"))
        if is_last:
            return


def _command_line(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _program(pid: int) -> str:
    """The program that a process runs now."""
    with suppress(OSError):
        name = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
        return "python" if name.startswith("python") else name
    return ""


def _status_kib(pid: int, field: str) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1])
    return 0


def _forget_peak(pid: int) -> None:
    """Let the system count the peak of a process from now on."""
    with suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text("5")
