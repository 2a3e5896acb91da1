"""The command, as people and scripts run it, each time in a process of its own."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.acceptance.forked import COMMAND, Forked

LIMIT_S = 60
LOOPBACK_GIT = {
    "VSKILL_PLATFORM_ALLOW_PRIVATE_ADDRESSES": "true",
    "VSKILL_PLATFORM_GIT_PROTOCOLS": "http",
    "VSKILL_PLATFORM_SCAN_PROCESSES": "1",
}


def run(*arguments: str, given: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(given.encode())
        stdin.seek(0)
        with closing(Forked(*arguments, environment=environment, stdin=stdin, stdout=stdout, stderr=stderr)) as forked:
            code = forked.wait(LIMIT_S)
        stdout.seek(0)
        stderr.seek(0)
        return subprocess.CompletedProcess([COMMAND, *arguments], code, stdout.read().decode(), stderr.read().decode())


@contextmanager
def registry(data: Path, *options: str, **environment: str) -> Iterator[tuple[Forked, str]]:
    """A registry on a free port, and its address; killed at the end if it still runs."""
    with closing(Forked("up", "--data", str(data), "--port", "0", *options, environment=environment)) as process:
        yield process, _address(process)


def _address(process: Forked) -> str:
    seen: list[str] = []
    for line in process.stderr:
        seen.append(line)
        found = re.search(r"is up at (http://\S+),", line)
        if found:
            return found[1]
    raise AssertionError(f"the registry did not come up: {''.join(seen)}")
