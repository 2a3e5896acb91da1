"""Processes that the nursery has started: asked, signalled and ended by a handle that no other process can come to have."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tests.faults.children import LIMIT_S, ROOT
from tests.faults.doom import Doom
from tests.faults.nursery import Order


class Offspring:
    """A process of the nursery. Nobody but us may end it, and nobody has to wait for it."""

    def __init__(self, role: str, pid: int, log: Path) -> None:
        self.role, self.pid, self._log = role, pid, log
        self._handle = os.pidfd_open(pid)
        self.killed_at: float | None = None
        self.is_doomed = False

    @property
    def is_alive(self) -> bool:
        return not select.select([self._handle], [], [], 0)[0]

    @property
    def lines(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []

    def said(self, word: str) -> list[str] | None:
        """The rest of the first line that begins with a word."""
        return next((words[1:] for line in self.lines if (words := line.split())[:1] == [word]), None)

    @property
    def address(self) -> str:
        return (self.said("up") or [""])[0]

    @property
    def died_at(self) -> float | None:
        """When it was killed, by us or by its doom; None while it lives, or if it ended otherwise."""
        dying = self.said("dying")
        return float(dying[1]) if dying else self.killed_at

    def signal(self, number: signal.Signals) -> None:
        signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        """SIGKILL, if it still lives."""
        if self.is_alive:
            self.killed_at = time.time()
            self.signal(signal.SIGKILL)
            self.wait()

    def wait(self) -> None:
        """Return when it is gone."""
        if not select.select([self._handle], [], [], LIMIT_S)[0]:
            raise RuntimeError(f"{self.role} {self.pid} does not end: {self.explain()}")

    @property
    def has_ended_well(self) -> bool:
        return not self.is_alive and self.said("ended") is not None

    def explain(self) -> str:
        return "\n".join(self.lines[-40:])

    def close(self) -> None:
        self.kill()
        os.close(self._handle)


@dataclass
class Nursery:
    """Starts processes."""

    process: subprocess.Popen[bytes]
    folder: Path
    started: list[Offspring] = field(default_factory=list)

    def begin(self, role: str, environment: dict[str, str], *, doom: Doom | None = None) -> Offspring:
        """Start a process, and do not wait until it is up."""
        log = self.folder / f"{role}-{len(self.started)}.log"
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(msgspec.json.encode(Order(role, environment, str(log), doom)) + b"\n")
        self.process.stdin.flush()
        grown = Offspring(role, int(self.process.stdout.readline()), log)
        grown.is_doomed = doom is not None
        self.started.append(grown)
        return grown


@contextmanager
def nursery(folder: Path) -> Iterator[Nursery]:
    """A nursery; all that it has started is gone afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.faults.nursery"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as process:
        grown = Nursery(process, folder)
        try:
            yield grown
        finally:
            for one in grown.started:
                one.close()
            assert process.stdin is not None
            process.stdin.close()
