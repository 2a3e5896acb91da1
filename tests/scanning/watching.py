"""Watching processes from outside: what they are given, whether they are gone, and standing in for them badly."""

from __future__ import annotations

import array
import fcntl
import os
import signal
import sys
import termios
from pathlib import Path

from vskill_platform.testing.waits import until


def state_of(pid: int) -> str:
    """The letter that the system has for a process: T stopped, Z ended and not reaped, X gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def is_gone(pid: int) -> bool:
    """Whether a process has ended, reaped or not."""
    return state_of(pid) in "ZX"


async def until_gone(*pids: int) -> None:
    """Wait until processes have ended."""
    await until(lambda: all(is_gone(pid) for pid in pids), what=f"{pids} are gone")


async def make_stop(pid: int) -> None:
    """Make a process stand still."""
    os.kill(pid, signal.SIGSTOP)
    await until(lambda: state_of(pid) == "T", what=f"{pid} stands still")


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
