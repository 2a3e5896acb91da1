"""A scanner that is kept running because it is slow to start, and is spoken to in frames.

Its process works on one skill at a time. It is started with the first, and ended and replaced when it passes a limit, stops
making sense, or has done its number of jobs: what one skill may have done to it must not last.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from asyncio.subprocess import PIPE, Process
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import IO, Protocol

import msgspec
import structlog

from vskill_platform.children.processes import last_of
from vskill_platform.children.workspace import Workspace
from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.errors import VskillError
from vskill_platform.domain.external_scan import ExternalReport
from vskill_platform.scanning.external.environments import Environment
from vskill_platform.scanning.external.materialising import materialise
from vskill_platform.scanning.external.normalising import Sightings, bounded, failed_report, report_of
from vskill_platform.scanning.external.sandbox import EndedBy, LimitPassed, Sandbox
from vskill_platform.scanning.external.tools import (
    SCRATCH_FOLDER,
    SKILL_FOLDER,
    Unreadable,
    limit_sentence,
    milliseconds_since,
)
from vskill_platform.scanning.frames import HEADER

START_LIMIT_S = 300.0
JOBS_PER_PROCESS = 500
_log = structlog.get_logger(__name__)


class WarmTool(Protocol):
    """A tool that stays: it says an empty frame when it is ready, and answers each folder with a frame."""

    @property
    def name(self) -> str:
        """What the operator calls it."""
        ...

    def command(self, *, python: Path) -> list[str]:
        """The command line that starts it."""
        ...

    def read(self, data: bytes) -> Sightings:
        """What it says of one skill. Raises Unreadable or a MsgspecError where that cannot be told."""
        ...


@dataclass(slots=True)
class _Running:
    """A process that is ready, its private folder, and how to end both."""

    process: Process
    folder: Path
    errors: IO[bytes]
    stack: AsyncExitStack
    jobs: int = 0

    def last_words(self) -> str:
        """The last line that it complained."""
        lines = last_of(self.errors).decode("utf-8", "backslashreplace").splitlines()
        return bounded(next((line for line in reversed(lines) if line.strip()), ""), limit=200)


class WarmScanner:
    """An external scanner whose tool stays running. `close` ends it."""

    def __init__(self, tool: WarmTool, *, environment: Environment, sandbox: Sandbox, workspace: Workspace) -> None:
        self._tool = tool
        self._environment = environment
        self._sandbox = sandbox
        self._workspace = workspace
        self._version = environment.pinned_version()
        self._running: _Running | None = None
        self._turn = asyncio.Lock()

    @property
    def name(self) -> str:
        """What the operator calls it."""
        return self._tool.name

    @property
    def pid(self) -> int | None:
        """The id of the process that is running now."""
        return self._running.process.pid if self._running else None

    async def unavailable_because(self) -> str:
        """Why it cannot be asked on this machine; empty where it can."""
        return self._environment.missing_because() or await self._sandbox.refusal()

    async def scan(self, content: SkillContent) -> ExternalReport:
        """What the tool says of this content. Skills are taken in the order in which they come."""
        refusal = await self.unavailable_because()
        if refusal:
            return failed_report(refusal, provider=self.name, version=self._version)
        async with self._turn:
            began = perf_counter()
            try:
                return await self._scan(content, began=began)
            except BaseException:
                await self._end()
                raise

    async def close(self) -> None:
        """End the process, if there is one."""
        async with self._turn:
            await self._end()

    async def _scan(self, content: SkillContent, *, began: float) -> ExternalReport:
        failure, is_late = "", False
        try:
            running = await self._ready()
            began = perf_counter()
            return await self._ask(running, content, began=began)
        except LimitPassed as passed:
            failure, is_late = limit_sentence(passed.ended_by, name=self.name, limits=self._sandbox.limits), False
        except TimeoutError:
            failure, is_late = limit_sentence(EndedBy.TIME, name=self.name, limits=self._sandbox.limits), True
        except (EOFError, ConnectionError):
            said = self._running.last_words() if self._running else ""
            failure = f"{self.name} ended before it had answered.{f' It said: {said}' if said else ''}"
        except (Unreadable, msgspec.MsgspecError, UnicodeError, RecursionError) as exc:
            reason = str(exc) if isinstance(exc, Unreadable) else "its answer is not in the form that it should have"
            failure = f"{self.name} came to no result: {reason}."
        except (OSError, VskillError) as exc:
            failure = f"{self.name} could not be started: {bounded(str(exc), limit=200)}."
        await self._end()
        _log.warning("external_scan_failed", provider=self.name, reason=failure)
        return failed_report(
            failure,
            provider=self.name,
            version=self._version,
            is_late=is_late,
            duration_ms=milliseconds_since(began),
        )

    async def _ask(self, running: _Running, content: SkillContent, *, began: float) -> ExternalReport:
        skill = running.folder / SKILL_FOLDER
        try:
            await asyncio.to_thread(materialise, content, skill)
            running.jobs += 1
            async with asyncio.timeout(self._sandbox.limits.time_s), self._sandbox.watched(running.process):
                answer = await self._exchange(running.process, str(skill).encode())
        finally:
            await asyncio.to_thread(shutil.rmtree, skill, ignore_errors=True)
        sightings = await asyncio.to_thread(self._tool.read, answer)
        if running.jobs >= JOBS_PER_PROCESS:
            await self._end()
        return await asyncio.to_thread(
            report_of,
            sightings,
            provider=self.name,
            version=self._version,
            content=content,
            folder=str(skill),
            duration_ms=milliseconds_since(began),
        )

    async def _exchange(self, process: Process, job: bytes) -> bytes:
        assert process.stdin is not None
        process.stdin.write(HEADER.pack(len(job)) + job)
        await process.stdin.drain()
        return await self._take(process)

    async def _take(self, process: Process) -> bytes:
        assert process.stdout is not None
        size = HEADER.unpack(await process.stdout.readexactly(HEADER.size))[0]
        if size > self._sandbox.limits.output_bytes:
            raise LimitPassed(EndedBy.OUTPUT)
        return await process.stdout.readexactly(size)

    async def _ready(self) -> _Running:
        """The process, started first where there is none or it has ended meanwhile."""
        if self._running is not None and self._running.process.returncode is None:
            return self._running
        await self._end()
        async with AsyncExitStack() as stack:
            folder = await stack.enter_async_context(self._workspace.folder())
            scratch = folder / SCRATCH_FOLDER
            scratch.mkdir(mode=0o700)
            errors = stack.enter_context(_temporary_file(folder))
            process = await stack.enter_async_context(
                self._sandbox.started(
                    self._tool.command(python=self._environment.python),
                    folder=scratch,
                    kept=[folder, self._environment.folder],
                    environment={},
                    errors=errors,
                    stdin=PIPE,
                )
            )
            running = self._running = _Running(process, folder, errors, stack.pop_all())
        await self._await_ready(process)
        return running

    async def _await_ready(self, process: Process) -> None:
        try:
            async with asyncio.timeout(START_LIMIT_S), self._sandbox.watched(process):
                await self._take(process)
        except TimeoutError as exc:
            raise Unreadable(f"it was not ready within {START_LIMIT_S:g} s") from exc

    async def _end(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            await running.stack.aclose()


def _temporary_file(folder: Path) -> IO[bytes]:
    return tempfile.TemporaryFile(dir=folder)
