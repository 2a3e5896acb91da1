"""Commands that `command_server.py` has forked: a process each, started at once, and handled as `subprocess.Popen` would."""

from __future__ import annotations

import atexit
import os
import select
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import IO

import msgspec

COMMAND = str(Path(sys.executable).with_name("vskill-platform"))
"""The installed script. Starting it takes longer than most of what is tested of it."""
ROOT = Path(__file__).parents[2]


class Order(msgspec.Struct):
    """A command to run."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str


class Forked:
    """A command that runs. What it logs is read from `stderr`, unless that goes to a file of the caller's."""

    def __init__(
        self,
        *arguments: str,
        environment: dict[str, str],
        stdin: IO[bytes] | None = None,
        stdout: IO[bytes] | None = None,
        stderr: IO[bytes] | None = None,
    ) -> None:
        self.returncode: int | None = None
        reading, writing = os.pipe()
        told, telling = os.pipe()
        order = Order([COMMAND, *arguments], {**os.environ, "COLUMNS": "200", **environment}, os.getcwd())
        with open(os.devnull, "r+b") as nothing:
            streams = [stdin or nothing, stdout or nothing]
            descriptors = [*(stream.fileno() for stream in streams), stderr.fileno() if stderr else writing, telling]
            socket.send_fds(_server(), [msgspec.json.encode(order)], descriptors)
        os.close(writing)
        os.close(telling)
        self.stderr = os.fdopen(reading, encoding="utf-8", errors="replace")
        self._told = os.fdopen(told, "rb")
        self.pid = int(self._told.readline())
        self._handle = os.pidfd_open(self.pid)

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        try:
            return self.wait(timeout=0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float) -> int:
        """The exit code, once it has ended."""
        if self.returncode is None:
            if not select.select([self._handle], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(COMMAND, timeout)
            self.returncode = int(self._told.readline())
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        """kill -9."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Nothing, for what it printed, and all that it has logged, once it has ended."""
        log = self.stderr.read()
        self.wait(timeout)
        return "", log

    def close(self) -> None:
        """End it, and let go of what is held for it."""
        self.kill()
        self.wait(timeout=60)
        os.close(self._handle)
        self._told.close()
        self.stderr.close()


@cache
def _server() -> socket.socket:
    """The way to the one server of this process, which ends with it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "tests.acceptance.command_server", str(theirs.fileno())]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], cwd=ROOT)
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours
