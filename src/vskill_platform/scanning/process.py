"""One scanning process, seen by its owner."""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from typing import Self

import structlog

from vskill_platform.domain.errors import ScannerUnavailable
from vskill_platform.domain.scan import MEMORY_LIMIT, SCANNER_CRASHED, TIME_LIMIT
from vskill_platform.scanning.frames import EXIT_OTHER_RULES, EXIT_OUT_OF_MEMORY, HEADER, MAX_ANSWER_BYTES

START_LIMIT_S = 30.0
STOP_LIMIT_S = 5.0
END_LIMIT_S = 1.0
"""How long a process that closed its output may take to end before it is ended."""
MOST_LOGGED_BYTES = 64 * 1024
_log = structlog.get_logger(__name__)


class ScanProcess:
    """A running scanning process. It works on one job at a time and is not used again once anything went wrong."""

    def __init__(self, process: Process) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._listener = asyncio.create_task(_log_output(process.stderr, pid=process.pid))
        self._is_killed = False
        self.jobs = 0

    @classmethod
    async def start(cls, *, memory_bytes: int, cpu_s: int, rules: bytes) -> Self:
        """A process that is ready for jobs by these rules. Raises ScannerUnavailable where none can be started."""
        module = "vskill_platform.scanning.child"
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-m", module, str(memory_bytes), str(cpu_s)),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                env={},
                cwd="/",
                start_new_session=True,
            )
        except OSError as exc:
            raise ScannerUnavailable(f"No scanning process could be started: {exc}. Try again later.") from exc
        started = cls(process)
        try:
            await started._wait_ready(rules)
        except BaseException:
            started.kill()
            await started.gone()
            raise
        return started

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process has not ended, as far as has been heard."""
        return not self._is_killed and self._process.returncode is None and not self._stdout.at_eof()

    async def give(self, job: bytes) -> None:
        """Hand a job over, and hear that it has arrived. Raises ConnectionError or EOFError where the process is gone."""
        self.jobs += 1
        self._stdin.write(job)
        await self._stdin.drain()
        await self._stdout.readexactly(HEADER.size)

    async def take(self) -> bytes:
        """What the process answers. Raises EOFError where it ends first, and ValueError for an answer that is too large."""
        size = HEADER.unpack(await self._stdout.readexactly(HEADER.size))[0]
        if size > MAX_ANSWER_BYTES:
            raise ValueError("the answer is larger than answers may be")
        return await self._stdout.readexactly(size)

    async def reason_of_end(self) -> str:
        """Which limit the process passed, if one of those ended it. Ends it if it has not ended."""
        try:
            async with asyncio.timeout(END_LIMIT_S):
                code = await self._process.wait()
        except TimeoutError:
            return SCANNER_CRASHED
        finally:
            self.kill()
        return {EXIT_OUT_OF_MEMORY: MEMORY_LIMIT, -signal.SIGXCPU: TIME_LIMIT}.get(code, SCANNER_CRASHED)

    def kill(self) -> None:
        """End the process now. What remains of it goes in `gone`."""
        self._is_killed = True
        if self._process.returncode is None:
            self._process.kill()

    async def stop(self) -> None:
        """Let the process end by itself, and end it where it does not."""
        self._stdin.close()
        try:
            async with asyncio.timeout(STOP_LIMIT_S):
                await self._process.wait()
        except TimeoutError:
            self.kill()
        await self.gone()

    async def gone(self) -> None:
        """Wait until nothing of a process that is ending remains."""
        self._stdin.close()
        await self._drain()
        await self._process.wait()
        await self._listener

    async def _drain(self) -> None:
        """Read an answer that nobody waits for any more: asyncio does not count a process as gone while a pipe is full."""
        with suppress(RuntimeError):  # somebody waits for it after all, and will see its end
            while await self._stdout.read(HEADER.size * 16_384):
                pass

    async def _wait_ready(self, rules: bytes) -> None:
        try:
            async with asyncio.timeout(START_LIMIT_S):
                self._stdin.write(rules)
                await self._stdin.drain()
                await self._stdout.readexactly(HEADER.size)
        except (TimeoutError, EOFError, ConnectionError) as exc:
            raise ScannerUnavailable(await self._why_not_ready()) from exc

    async def _why_not_ready(self) -> str:
        await self.reason_of_end()
        if self._process.returncode == EXIT_OTHER_RULES:
            return (
                "A new scanning process has other rules than this one was started with: the installation has changed. "
                "Restart the registry."
            )
        return "A scanning process did not become ready. What it said is in the log; its memory limit may be too low."


async def _log_output(stream: asyncio.StreamReader, *, pid: int) -> None:
    """Log what a process prints, up to a bound; read on beyond it, so that the process does not wait for a reader."""
    left = MOST_LOGGED_BYTES
    while data := await stream.read(8192):
        if left > 0:
            _log.warning("scan_process_printed", pid=pid, text=data[:left].decode(errors="backslashreplace"))
        left -= len(data)
