"""The installed command, as people and scripts run it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COMMAND = str(Path(sys.executable).with_name("vskill-platform"))
LIMIT_S = 60
LOOPBACK_GIT = {
    "VSKILL_PLATFORM_ALLOW_PRIVATE_ADDRESSES": "true",
    "VSKILL_PLATFORM_GIT_PROTOCOLS": "http",
    "VSKILL_PLATFORM_SCAN_PROCESSES": "1",
}


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env={**os.environ, "COLUMNS": "200", **environment},
        check=False,
    )


@contextmanager
def registry(data: Path, *options: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A registry on a free port, and its address; killed at the end if it still runs."""
    process = subprocess.Popen(
        [COMMAND, "up", "--data", str(data), "--port", "0", *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200", **environment},
    )
    try:
        yield process, _address(process)
    finally:
        process.kill()
        process.communicate(timeout=LIMIT_S)


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    seen: list[str] = []
    for line in process.stderr:
        seen.append(line)
        found = re.search(r"is up at (http://\S+),", line)
        if found:
            return found[1]
    raise AssertionError(f"the registry did not come up: {''.join(seen)}")
