"""One run of `git upload-pack`: a request in, an answer out in pieces, and never a process left behind."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

from vskill_platform.domain.errors import NotFound

T = TypeVar("T")
CHUNK_BYTES = 64 * 1024
ERROR_BYTES = 2048

_SERVING_CONFIG = {
    "safe.directory": "*",
    "uploadpack.allowFilter": "true",
    "uploadpack.allowAnySHA1InWant": "true",
    "core.hooksPath": os.devnull,
}


class UploadPack:
    """A running `git upload-pack`. `errors` has the beginning of what it complained about."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._stdin, self._stdout, self._stderr = _pipe(process.stdin), _pipe(process.stdout), _pipe(process.stderr)
        self.errors = bytearray()

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative if it was killed, so that its answer is not whole."""
        return self._process.returncode

    async def answer(self, request: bytes, *, pass_on: Callable[[bytes], Awaitable[None]]) -> None:
        """Hand the request in and the output on, a piece at a time. Git writes before it has read everything."""
        async with asyncio.TaskGroup() as group:
            feeding = group.create_task(self._feed(request))
            group.create_task(self._note_errors())
            while piece := await self._stdout.read(CHUNK_BYTES):
                await pass_on(piece)
            feeding.cancel()
        await self._process.wait()

    def kill(self) -> None:
        """End git and its children at once."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def close(self) -> None:
        """Kill it if it still runs, and wait until it is gone.

        What is left in its pipes is read first: asyncio does not count a process as gone while a pipe of it is full.
        """
        self.kill()
        self._stdin.close()
        await asyncio.gather(_drain(self._stdout), _drain(self._stderr))
        await self._process.wait()

    async def _feed(self, request: bytes) -> None:
        # A git that has ended already is no error here: uvloop says so with a RuntimeError, asyncio with the others.
        with suppress(BrokenPipeError, ConnectionResetError, RuntimeError):
            self._stdin.write(request)
            await self._stdin.drain()
        self._stdin.close()

    async def _note_errors(self) -> None:
        while piece := await self._stderr.read(CHUNK_BYTES):
            self.errors += piece[: ERROR_BYTES - len(self.errors)]


async def _drain(stream: asyncio.StreamReader) -> None:
    while await stream.read(CHUNK_BYTES):
        pass


def _pipe(stream: T | None) -> T:
    assert stream is not None, "git was started with pipes"
    return stream


class Git:
    """The git of this machine, as it serves repositories: without the configuration of system or user."""

    def __init__(self) -> None:
        found = shutil.which("git")
        if found is None:
            raise NotFound("git is not installed, or not on the PATH. Install git 2.34 or newer.")
        self._command = os.path.abspath(found)

    @asynccontextmanager
    async def upload_pack(self, repository: Path, *options: str, protocol: str) -> AsyncIterator[UploadPack]:
        """Start it on a repository, an absolute path; at the end of the block it has ended, one way or the other."""
        process = await asyncio.create_subprocess_exec(
            *(self._command, "upload-pack", "--strict", "--stateless-rpc", *options, str(repository)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=CHUNK_BYTES,
            env=self._environment(protocol),
            start_new_session=True,
        )
        running = UploadPack(process)
        try:
            yield running
        finally:
            await running.close()

    def _environment(self, protocol: str) -> dict[str, str]:
        environment = {
            "PATH": os.pathsep.join((os.path.dirname(self._command), os.defpath)),
            "HOME": os.devnull,
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_CONFIG_COUNT": str(len(_SERVING_CONFIG)),
        }
        for number, (key, value) in enumerate(_SERVING_CONFIG.items()):
            environment |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return environment | ({"GIT_PROTOCOL": protocol} if protocol else {})
