"""Child processes with limits, that never outlive the block they were started in.

A child leads a session of its own, so that it and everything it starts can be killed together. Its limits are set by a
line of `sh` that then becomes the program: they hold before its first instruction, which limits set from here after the
start would not, and no Python runs between fork and exec, which is not safe in a process with threads.
"""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import tempfile
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

SHELL = "/bin/sh"
ERRORS_KEPT_BYTES = 16 * 1024
ENDING_LIMIT_S = 10.0
_BLOCK_BYTES = 512
_SET_LIMITS = (
    'ulimit -c 0 && ulimit -f "$1" && ulimit -t "$2" && ulimit -v "$3" && ulimit -n "$4" && shift 4 && exec "$@"'
)


class ProcessLimits(NamedTuple):
    """What a child may use: bytes in a file it writes, processor time, address space, open files."""

    file_bytes: int
    cpu_s: int
    memory_bytes: int
    open_files: int


class Ended(NamedTuple):
    """How a child ended: its exit status (negative for a signal) and the last of what it complained about."""

    status: int
    errors: str


def limited(command: Sequence[str], *, limits: ProcessLimits) -> list[str]:
    """The command line that runs a command under limits; none is set above what this process itself may have."""
    blocks = _at_most(resource.RLIMIT_FSIZE, limits.file_bytes) // _BLOCK_BYTES
    cpu_s = _at_most(resource.RLIMIT_CPU, limits.cpu_s)
    kibibytes = _at_most(resource.RLIMIT_AS, limits.memory_bytes) // 1024
    files = _at_most(resource.RLIMIT_NOFILE, limits.open_files)
    return [SHELL, "-c", _SET_LIMITS, "sh", *map(str, (blocks, cpu_s, kibibytes, files)), *command]


@asynccontextmanager
async def started(
    command: Sequence[str],
    *,
    limits: ProcessLimits,
    environment: Mapping[str, str],
    folder: Path,
    stdin: int = DEVNULL,
    stdout: int | IO[bytes] = DEVNULL,
    stderr: int | IO[bytes] = DEVNULL,
) -> AsyncIterator[Process]:
    """A child that runs while the block lasts. It is killed with all it has started when the block ends, however it does.

    Raises OSError where this machine starts none.
    """
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *limited(command, limits=limits),
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
        )
    )
    process = await _born(starting)
    try:
        yield process
    finally:
        await _end(process)


async def run(
    command: Sequence[str],
    *,
    limits: ProcessLimits,
    environment: Mapping[str, str],
    folder: Path,
    stdout: int | IO[bytes] = DEVNULL,
) -> Ended:
    """Run a child to its end. Output goes to `stdout`; of its complaints the last 16 KiB are kept."""
    # Complaints go to a file and not to a pipe: a pipe is open for as long as anything that the child started holds it.
    with tempfile.TemporaryFile(dir=folder) as errors:
        async with started(
            command, limits=limits, environment=environment, folder=folder, stdout=stdout, stderr=errors
        ) as process:
            status = await process.wait()
            kill_group(process)
        return Ended(status, last_of(errors).decode("utf-8", "backslashreplace"))


async def _born(starting: asyncio.Future[Process]) -> Process:
    """The child, once it is there. Cancelling half-way would lose sight of it: it is seen through, then ended."""
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(OSError):
            await _end(await starting)
        raise


def kill_group(process: Process) -> None:
    """Kill a child and everything it has started."""
    # The group is named after its leader. Signalled at once after the leader's end, the number cannot be another's yet.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


async def _end(process: Process) -> None:
    if process.returncode is None:
        kill_group(process)
    async with asyncio.timeout(ENDING_LIMIT_S):
        if process.stdout is not None:
            await process.stdout.read()  # a pipe with something in it keeps the loop from seeing the end
        await process.wait()
    _close_pipes(process)


def _close_pipes(process: Process) -> None:
    """Close our ends now; a pipe with unread output in it would otherwise wait for the garbage collector."""
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


def last_of(file: IO[bytes]) -> bytes:
    """The last 16 KiB of a file."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - ERRORS_KEPT_BYTES))
    return file.read(ERRORS_KEPT_BYTES)


def _at_most(kind: int, wanted: int) -> int:
    _, hard = resource.getrlimit(kind)
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
