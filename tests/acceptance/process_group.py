"""Processes of one registry on one PostgreSQL, started by the installed command as an operator starts them."""

from __future__ import annotations

import re
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

from tests.acceptance.commands import LIMIT_S, LOOPBACK_GIT, run
from tests.acceptance.forked import Forked

QUICK = {
    "VSKILL_PLATFORM_CRON_LEASE_S": "2",
    "VSKILL_PLATFORM_HEALTH_ADDRESS": "0",
    "VSKILL_PLATFORM_LEASE_S": "3",
    "VSKILL_PLATFORM_SUBMISSIONS_PER_HOUR": "100000",
}
_UP = re.compile(r"is up(?: at (?P<address>http://\S+))?, data in .*?, health at (?P<health>http://[^ ]+)\.")


@dataclass(slots=True, eq=False)
class Running:
    """A process that is up, and where it can be reached."""

    process: Forked
    address: str
    health: str
    lines: list[str] = field(default_factory=list)

    def metrics(self) -> dict[str, float]:
        """Every sample that the process tells, by name and labels."""
        samples = [line.rsplit(" ", 1) for line in read(f"{self.health}/metrics").splitlines() if line[0] != "#"]
        return {name: float(value) for name, value in samples}

    def stop(self) -> int:
        """SIGTERM, and the exit code once it has drained."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=LIMIT_S)

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()
        self.process.wait(timeout=LIMIT_S)


def read(url: str) -> str:
    """What an address answers."""
    with urllib.request.urlopen(url, timeout=LIMIT_S) as answer:
        return bytes(answer.read()).decode()


@dataclass(slots=True)
class ProcessGroup:
    """Any number of processes with the same settings."""

    environment: dict[str, str]
    started: list[Running] = field(default_factory=list)

    def start(self, role: str, *options: str) -> Running:
        """Start a process and return when it is up."""
        chosen = ["--port", "0", *options] if role in ("web", "up") else list(options)
        running = Running(Forked(role, *chosen, environment={"COLUMNS": "300", **self.environment}), "", "")
        self.started.append(running)
        is_up = Event()
        Thread(target=_read_log, args=(running, is_up), daemon=True).start()
        assert is_up.wait(LIMIT_S), f"{role} says nothing"
        assert running.health, f"{role} did not come up: {''.join(running.lines)}"
        return running

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run an operator's command with the settings of the group."""
        return run(*arguments, **self.environment)


def _read_log(running: Running, is_up: Event) -> None:
    """Read all that a process logs, so that it never waits for a reader, and note where it can be reached."""
    with running.process.stderr as log:
        for line in log:
            running.lines.append(line)
            found = _UP.search(line)
            if found:
                running.address, running.health = found["address"] or "", found["health"]
                is_up.set()
    is_up.set()


@contextmanager
def process_group(url: str, data: Path, **settings: str) -> Iterator[ProcessGroup]:
    """A group on a database; what still runs at the end is killed."""
    places = {"VSKILL_PLATFORM_DATABASE_URL": url, "VSKILL_PLATFORM_DATA": str(data)}
    group = ProcessGroup({**LOOPBACK_GIT, **QUICK, **places, **settings})
    try:
        yield group
    finally:
        for running in group.started:
            running.process.close()
