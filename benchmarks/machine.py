"""How busy the machine is while a figure is taken: a figure that was taken among others says so."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

BUSY_SHARE = 0.5
"""From here on the processor decides how long things take, and not what is measured."""
_TICKS = os.sysconf("SC_CLK_TCK")
_MEGABYTE = 1024 * 1024


def _busy_seconds() -> float:
    """Seconds that all cores together have been at work since the machine started."""
    user, nice, system, _, _, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:9])
    return (user + nice + system + irq + softirq + steal) / _TICKS


@dataclass(slots=True)
class CpuUse:
    """What share of all cores was in use since this was made: by everybody, and by the processes that are asked about."""

    _cores: int = field(default_factory=lambda: os.cpu_count() or 1)
    _began: float = field(default_factory=time.perf_counter)
    _busy: float = field(default_factory=_busy_seconds)

    def of_everybody(self) -> float:
        """From 0 to 1, whoever it was."""
        return (_busy_seconds() - self._busy) / self._available()

    def of_seconds(self, used_s: float) -> float:
        """The share that so many seconds of processor time are."""
        return used_s / self._available()

    def _available(self) -> float:
        return (time.perf_counter() - self._began) * self._cores


def load_note() -> str:
    """The load of the machine in words, and whether it is too busy to judge times by."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    note = f"load {load:.1f} on {cores} cores"
    return f"{note}: TOO BUSY to judge times by" if load > cores else note


def cpu_seconds(pids: Iterable[int]) -> float:
    """Processor time that these processes have used so far, their ended children included. One that is gone counts nothing."""
    return sum(_process_seconds(pid) for pid in pids)


def resident_mb(pid: int) -> float:
    """Memory that a process holds, in megabytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / _MEGABYTE


def _process_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS
