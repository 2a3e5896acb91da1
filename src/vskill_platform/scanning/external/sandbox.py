"""Where programs of others run: without network, without our variables, files and processes, and within limits.

A child gets namespaces of its own (`unshare`): a network with nothing in it, a process tree that ends with it whatever it
has started, and a view of the disk in which nothing can be written but one small folder in memory, and in which the
registry's data is not. Its memory and its processes are counted while it runs, all that it starts included, because a
limit that the kernel holds for each process alone is none for a family of them. It ends with the process that started it,
also where that is killed and cannot say so.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO

from vskill_platform.children.processes import SHELL, ProcessLimits, kill_group, last_of, started
from vskill_platform.domain.errors.grouped import first_of
from vskill_platform.scanning.external.usage import family_usage

SCRATCH_BYTES = 256 * 1024 * 1024
MOST_PROCESSES = 128
LOOK_INTERVAL_S = 0.1
PROBE_LIMIT_S = 10.0
SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PIPE_BYTES = 64 * 1024
_OPEN_FILES = 1024
_LEAST_FILE_BYTES = 1024 * 1024
"""Complaints are kept in a file of ours, so how large a file may be is also how much they may be."""
_ADDRESS_SPACE_BYTES = 1 << 45
"""Room for runtimes that reserve far more addresses than they use; what is used is limited."""
_ENDING_WITH_US = ("setpriv", "--pdeathsig", "KILL")
_NAMESPACES = ("--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child=KILL", "--mount")
_ENTER = """
memory=$1 scratch=$2 scratch_bytes=$3 hidden=$4; shift 4
while read -r _ _ _ _ place _; do
    case "$place" in /proc*|/sys*|/dev*) ;; *) mount -o remount,bind,ro "$place" 2>/dev/null ;; esac
done </proc/self/mountinfo
mount -t proc none /proc 2>/dev/null || mount -t tmpfs none /proc || exit 125
mount -t tmpfs -o "size=$scratch_bytes,mode=700" none /dev/shm || exit 125
if [ -n "$hidden" ]; then
    number=0
    for kept in "$@"; do
        [ "$kept" != -- ] || break
        number=$((number + 1)); mkdir "/dev/shm/$number"; mount --bind "$kept" "/dev/shm/$number" || exit 125
    done
    mount -t tmpfs -o size=1m,mode=700 none "$hidden" || exit 125
    number=0
    while [ "$1" != -- ]; do
        number=$((number + 1)); mkdir -p "$1"; mount --bind "/dev/shm/$number" "$1" || exit 125; shift
    done
    mount -o remount,bind,ro "$hidden" || exit 125
fi
while [ "$1" != -- ]; do shift; done; shift
mount -t tmpfs -o "size=$scratch_bytes,mode=700" none "$scratch" || exit 125
cd "$scratch" && unset OLDPWD && ulimit -d "$memory" && exec "$@"
"""


class EndedBy(StrEnum):
    """What ended a child."""

    ITSELF = "itself"
    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"
    PROCESSES = "processes"


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """How long a child may run, what memory it may have with all that it starts, and how many bytes it may print."""

    time_s: float
    memory_bytes: int
    output_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a child ended, what it printed, and the last of what it complained about."""

    ended_by: EndedBy
    status: int
    output: bytes
    errors: str


class LimitPassed(Exception):
    """A child passed a limit, and is to be ended. It does not leave this room."""

    def __init__(self, ended_by: EndedBy) -> None:
        super().__init__(ended_by)
        self.ended_by = ended_by


class Sandbox:
    """Runs programs. `hidden` is the folder that they see as empty but for the folders that each run names."""

    def __init__(self, limits: SandboxLimits, *, hidden: Path | None = None, has_network: bool = False) -> None:
        self.limits = limits
        self._hidden = hidden
        self._namespaces = [name for name in _NAMESPACES if not (has_network and name == "--net")]
        self._refusal: str | None = None

    async def refusal(self) -> str:
        """Why this machine has no sandbox, in a sentence; empty where it has one. Found out once."""
        if self._refusal is None:
            self._refusal = await self._probe()
        return self._refusal

    @asynccontextmanager
    async def started(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        kept: Sequence[Path] = (),
        environment: Mapping[str, str],
        errors: int | IO[bytes] = DEVNULL,
        stdin: int = DEVNULL,
    ) -> AsyncIterator[Process]:
        """A child that runs while the block lasts. `folder` is where it may write, and what it wrote is gone afterwards.

        Raises OSError where none can be started.
        """
        limits = ProcessLimits(
            file_bytes=max(self.limits.output_bytes, _LEAST_FILE_BYTES),
            cpu_s=1 << 30,
            memory_bytes=_ADDRESS_SPACE_BYTES,
            open_files=_OPEN_FILES,
        )
        async with started(
            self._wrapped(command, folder=folder, kept=kept),
            limits=limits,
            environment={**_surroundings(folder), **environment},
            folder=folder,
            stdin=stdin,
            stdout=PIPE,
            stderr=errors,
        ) as process:
            yield process

    async def run(
        self, command: Sequence[str], *, folder: Path, kept: Sequence[Path] = (), environment: Mapping[str, str]
    ) -> Outcome:
        """Run a program to its end, or to the first limit that it passes."""
        with tempfile.TemporaryFile(dir=folder.parent) as errors:
            ended_by, status, output = EndedBy.ITSELF, -1, b""
            async with self.started(
                command, folder=folder, kept=kept, environment=environment, errors=errors
            ) as process:
                try:
                    async with asyncio.timeout(self.limits.time_s), self.watched(process):
                        output = await self._output_of(process)
                        status = await process.wait()
                except LimitPassed as passed:
                    ended_by = passed.ended_by
                except TimeoutError:
                    ended_by = EndedBy.TIME
                kill_group(process)
            text = last_of(errors).decode("utf-8", "backslashreplace")
        return Outcome(ended_by=ended_by, status=status, output=output, errors=text)

    @asynccontextmanager
    async def watched(self, process: Process) -> AsyncIterator[None]:
        """A block that ends with LimitPassed as soon as the child and what it has started are too many or too large."""
        try:
            async with asyncio.TaskGroup() as group:
                watch = group.create_task(self._watch(process.pid))
                yield
                watch.cancel()
        except BaseExceptionGroup as problems:
            told = first_of(problems, (LimitPassed, ConnectionError, EOFError))
            if told is None:
                raise
            raise told from None

    async def _watch(self, pid: int) -> None:
        while True:
            usage = await asyncio.to_thread(family_usage, pid)
            if usage.processes > MOST_PROCESSES:
                raise LimitPassed(EndedBy.PROCESSES)
            if usage.memory_bytes > self.limits.memory_bytes:
                raise LimitPassed(EndedBy.MEMORY)
            await asyncio.sleep(LOOK_INTERVAL_S)

    async def _output_of(self, process: Process) -> bytes:
        assert process.stdout is not None
        kept = bytearray()
        while data := await process.stdout.read(_PIPE_BYTES):
            kept += data
            if len(kept) > self.limits.output_bytes:
                raise LimitPassed(EndedBy.OUTPUT)
        return bytes(kept)

    def _wrapped(self, command: Sequence[str], *, folder: Path, kept: Sequence[Path]) -> list[str]:
        """The command line that enters the namespaces first."""
        hidden = str(self._hidden.absolute()) if self._hidden is not None else ""
        inside = [path for path in kept if self._hidden is not None and path.is_relative_to(self._hidden.absolute())]
        entering = [str(self.limits.memory_bytes // 1024), str(folder), str(SCRATCH_BYTES), hidden]
        return [
            *(*_ENDING_WITH_US, "unshare", *self._namespaces, SHELL, "-c", _ENTER, "sh", *entering),
            *(str(path) for path in inside),
            *("--", *command),
        ]

    async def _probe(self) -> str:
        for program in ("unshare", "setpriv"):
            if shutil.which(program, path=SEARCH_PATH) is None:
                return f"The program {program} is missing on this machine. Install util-linux."
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder) / "scratch"
            scratch.mkdir()
            try:
                async with asyncio.timeout(PROBE_LIMIT_S):
                    outcome = await Sandbox(self.limits).run(["true"], folder=scratch, environment={})
            except (OSError, TimeoutError) as exc:
                return f"No process can be started without network on this machine: {exc}."
        if outcome.status == 0:
            return ""
        said = " ".join(outcome.errors.split())[:200] or f"exit status {outcome.status}"
        return (
            f"This machine refuses to run a program without network ({said}). "
            "Permit user namespaces, or run the registry where they are permitted."
        )


def _surroundings(folder: Path) -> dict[str, str]:
    """The whole environment of a child: nothing of ours is in it."""
    return {
        "PATH": SEARCH_PATH,
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
