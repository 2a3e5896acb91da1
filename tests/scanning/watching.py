"""Watching processes from outside: what they are given, whether they are gone, and standing in for them badly."""

from __future__ import annotations

import array
import asyncio
import fcntl
import os
import signal
import sys
import termios
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 30.0


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; fail when it does not in a time that is ample."""
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110  nothing tells when another process has changed
            await asyncio.sleep(0.005)


def state_of(pid: int) -> str:
    """The letter that the system has for a process: T stopped, Z ended and not reaped, X gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def is_gone(pid: int) -> bool:
    """Whether a process has ended, reaped or not."""
    return state_of(pid) in "ZX"


async def make_stop(pid: int) -> None:
    """Make a process stand still."""
    os.kill(pid, signal.SIGSTOP)
    await until(lambda: state_of(pid) == "T")


def has_input(pid: int) -> bool:
    """Whether something lies in a process's standard input that it has not read."""
    waiting = array.array("i", [0])
    descriptor = os.open(f"/proc/{pid}/fd/0", os.O_RDONLY | os.O_NONBLOCK)
    try:
        fcntl.ioctl(descriptor, termios.FIONREAD, waiting)
    finally:
        os.close(descriptor)
    return waiting[0] > 0


def bad_child(folder: Path, *, body: str) -> str:
    """A program to start in place of python: it takes the rules, is ready, reads a job, and does what `body` says.

    It bears python's name too, for a process that is just ending tells no more of itself than that.
    """
    program = folder / "bad-child" / "python3"
    program.parent.mkdir(exist_ok=True)
    program.write_text(
        f"#!{sys.executable} -I\n"
        "import os, struct, sys\n"
        "start = sys.stdin.buffer.read(struct.unpack('>I', sys.stdin.buffer.read(4))[0])\n"
        "os.write(1, bytes(4))\n"
        "job = sys.stdin.buffer.read(struct.unpack('>I', sys.stdin.buffer.read(4))[0])\n"
        "os.write(1, bytes(4))\n"
        f"{body}\n"
    )
    program.chmod(0o755)
    return str(program)
