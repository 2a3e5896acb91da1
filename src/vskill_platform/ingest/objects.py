"""Objects of a fetched repository, by id, from two `git cat-file` processes that stay open as long as the snapshot.

An object's id is the hash of its bytes: git computed the id of everything it fetched from the bytes that came, so what is
read under an id is what the commit names, whatever the server claimed.
"""

from __future__ import annotations

import asyncio
import re
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import NamedTuple

from vskill_platform.children.processes import kill_group, started
from vskill_platform.domain.errors import FetchTimedOut, RepositoryMalformed
from vskill_platform.ingest.git_commands import Git, Job
from vskill_platform.ingest.limits import READ_LIMIT_S
from vskill_platform.ingest.processes import starting

_ASKED_AT_ONCE = 256
"""So many requests fit into a pipe's buffer: writing them cannot wait for answers that nobody reads yet."""
_HEADER = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64}) (blob|tree|commit|tag) ([0-9]{1,18})\n")


class ObjectHeader(NamedTuple):
    """What git says of an object before its bytes."""

    id: str
    kind: str
    size: int


class ObjectReader:
    """Reads objects. `stack` ends the processes."""

    def __init__(self, git: Git, *, job: Job, stack: AsyncExitStack) -> None:
        self._git = git
        self._job = job
        self._stack = stack
        self._processes: dict[str, Process] = {}
        self._turn = asyncio.Lock()

    async def headers(self, names: Sequence[str]) -> list[ObjectHeader | None]:
        """The header of each object, None for one that is not here. A name is an id, perhaps with `^{commit}`."""
        found: list[ObjectHeader | None] = []
        async with self._conversation("--batch-check") as process:
            for start in range(0, len(names), _ASKED_AT_ONCE):
                asked = names[start : start + _ASKED_AT_ONCE]
                _ask(process, asked)
                found.extend([await _header(process) for _ in asked])
        return found

    async def contents(self, ids: Sequence[str]) -> list[bytes]:
        """The bytes of each blob."""
        found: list[bytes] = []
        async with self._conversation("--batch") as process:
            for start in range(0, len(ids), _ASKED_AT_ONCE):
                asked = ids[start : start + _ASKED_AT_ONCE]
                _ask(process, asked)
                found.extend([await _blob(process, id) for id in asked])
        return found

    @asynccontextmanager
    async def _conversation(self, mode: str) -> AsyncIterator[Process]:
        """A process that nobody else asks meanwhile. One that was left in mid-answer is never asked again."""
        async with self._turn, _time_limit():
            process = await self._process(mode)
            try:
                yield process
            except BaseException:
                del self._processes[mode]
                kill_group(process)
                raise

    async def _process(self, mode: str) -> Process:
        if mode not in self._processes:
            reader = started(
                [str(self._git.program), "cat-file", mode],
                limits=self._git.limits(0),
                environment=self._git.reading(self._job),
                folder=self._job.folder,
                stdin=PIPE,
                stdout=PIPE,
            )
            with starting():
                self._processes[mode] = await self._stack.enter_async_context(reader)
        return self._processes[mode]


def _ask(process: Process, names: Sequence[str]) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write("".join(f"{name}\n" for name in names).encode())
    except (OSError, RuntimeError) as exc:  # uvloop says the latter of a process that has died
        raise _unreadable() from exc


async def _header(process: Process) -> ObjectHeader | None:
    assert process.stdout is not None
    line = await process.stdout.readline()
    found = _HEADER.fullmatch(line)
    if found is not None:
        return ObjectHeader(found[1].decode(), found[2].decode(), int(found[3]))
    if line.endswith(b" missing\n"):
        return None
    raise _unreadable()


async def _blob(process: Process, id: str) -> bytes:
    header = await _header(process)
    if header is None or header.kind != "blob" or header.id != id:
        raise _unreadable()
    assert process.stdout is not None
    try:
        content = await process.stdout.readexactly(header.size + 1)
    except asyncio.IncompleteReadError as exc:
        raise _unreadable() from exc
    return content[:-1]


@asynccontextmanager
async def _time_limit() -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(READ_LIMIT_S):
            yield
    except TimeoutError as exc:
        raise FetchTimedOut(
            f"Reading the fetched repository took longer than {READ_LIMIT_S:g} s. Try again later."
        ) from exc


def _unreadable() -> RepositoryMalformed:
    return RepositoryMalformed("An object of the repository cannot be read. Repair the repository, then submit again.")
