"""The pool of scanning processes: started ahead, one job at a time each, killed and replaced when they pass a limit.

Every process scans by the rules that were there when the pool was opened, with the changes that each job names; an answer
by other rules is not believed.
What goes wrong inside a scan is part of its report. The pool computes that report itself, from nothing that the process
that failed has said.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from types import TracebackType
from typing import Self

import msgspec
import structlog

from vskill_platform import __version__, metrics
from vskill_platform.domain.content import SkillContent, content_digest
from vskill_platform.domain.errors import ScannerUnavailable
from vskill_platform.domain.scan import SCANNER_CRASHED, TIME_LIMIT, ScanReport, Verdict
from vskill_platform.ports.scanner import NO_CHANGES
from vskill_platform.scanning.frames import Job, Start, decode_answer, frame
from vskill_platform.scanning.limits import ScanLimits
from vskill_platform.scanning.process import ScanProcess
from vskill_platform.scanning.scoring import CONCERNS_FROM
from vskill_platform.scanning.tier1.changes import effective_words, with_changes
from vskill_platform.scanning.tier1.packs import load_rules
from vskill_platform.settings import Settings

JOBS_PER_PROCESS = 5000
"""Jobs after which a process is replaced, so that nothing it has kept grows without end. The first few hundred are slow."""
WAIT_LIMIT_S = 600.0
DEFAULT_LIMITS = ScanLimits()
_log = structlog.get_logger(__name__)


@dataclass(slots=True, eq=False)
class _Place:
    """Room for one process. It is empty while there is none."""

    process: ScanProcess | None = None


class ScannerPool:
    """Scans in processes of its own, the first from the start and more as callers would have to wait.

    Use it as a context manager; it has no process before and none after.
    """

    def __init__(
        self, settings: Settings, *, limits: ScanLimits = DEFAULT_LIMITS, jobs_per_process: int = JOBS_PER_PROCESS
    ) -> None:
        self._time_limit_s = settings.scan_time_limit_s
        self._memory_bytes = settings.scan_memory_bytes
        self._rules_folder = settings.rules_folder
        self._limits = limits
        self._jobs_per_process = jobs_per_process
        self._places = tuple(_Place() for _ in range(settings.scan_processes or len(os.sched_getaffinity(0))))
        self._unused = list(self._places)
        self._free: asyncio.Queue[_Place] = asyncio.Queue()
        self._filling: set[asyncio.Task[None]] = set()
        self._numbers = itertools.count(1)
        self._is_open = False

    @property
    def size(self) -> int:
        """How many skills can be scanned side by side."""
        return len(self._places)

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of the processes that there are now."""
        return tuple(place.process.pid for place in self._places if place.process)

    async def __aenter__(self) -> Self:
        """Start one process. Raises InvalidRules, and ScannerUnavailable where it cannot be started."""
        await asyncio.to_thread(self._load_rules)
        first = self._unused.pop()
        try:
            await self._fill(first, reason="first")
        except BaseException:
            await self.close()
            raise
        self._is_open = True
        self._free.put_nowait(first)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def scan(self, content: SkillContent, *, changes: Mapping[str, str] = NO_CHANGES) -> ScanReport:
        """The report on this content by the rules with these changes. Callers are served in the order in which they come."""
        place = await self._take_place()
        started = perf_counter()
        try:
            report = await self._scan_at(place, content, changes)
            outcome = "limited" if report.limits_hit else "complete"
            metrics.SCAN_SECONDS.labels(outcome).observe(perf_counter() - started)
            return report
        except BaseException:
            self._end(place)
            raise
        finally:
            self._give_back(place)

    async def close(self) -> None:
        """End all processes. A scan that is still running raises ScannerUnavailable."""
        self._is_open = False
        for task in self._filling:
            task.cancel()
        if self._filling:
            await asyncio.wait(self._filling)
        running = [place.process for place in self._places if place.process]
        for place in self._places:
            place.process = None
            self._free.put_nowait(place)
        await asyncio.gather(*(process.stop() for process in running))

    async def _take_place(self) -> _Place:
        """The place that is free first: one that has a process, or one that is given its process now."""
        self._ensure_open()
        if self._free.empty() and self._unused:
            self._fill_later(self._unused.pop(), reason="first")
        try:
            async with asyncio.timeout(WAIT_LIMIT_S):
                place = await self._free.get()
        except TimeoutError as exc:
            raise ScannerUnavailable("No scanning process became free in time. Try again later.") from exc
        if not self._is_open:
            self._free.put_nowait(place)
            self._ensure_open()
        return place

    def _ensure_open(self) -> None:
        if not self._is_open:
            raise ScannerUnavailable("The scanner is not running. It is started when the registry starts.")

    async def _scan_at(self, place: _Place, content: SkillContent, changes: Mapping[str, str]) -> ScanReport:
        number = next(self._numbers)
        version = with_changes(self._ruleset, changes).version
        job = frame(Job(number, content, self._limits, effective_words(self._ruleset, changes)))
        started = perf_counter()
        process = await self._process_for(place)
        try:
            async with asyncio.timeout(self._time_limit_s):
                process = await self._hand_over(place, process, job)
                answer = decode_answer(await process.take())
                if answer.number != number:
                    raise ValueError("the answer is to another job")
                if answer.report.ruleset_version != version:
                    raise ValueError("the answer is by other rules")
            return answer.report
        except TimeoutError:
            reason = TIME_LIMIT
        except (EOFError, ConnectionError):
            reason = await process.reason_of_end()
        except (ValueError, msgspec.MsgspecError):
            reason = SCANNER_CRASHED
        self._end(place)
        self._ensure_open()
        _log.warning("scan_ended_early", reason=reason, pid=process.pid, bytes=content.size)
        elapsed_ms = (perf_counter() - started) * 1e3
        return await _unseen_report(content, reason, ruleset_version=version, elapsed_ms=elapsed_ms)

    async def _hand_over(self, place: _Place, process: ScanProcess, job: bytes) -> ScanProcess:
        """Hand the job to the process, or once to another where this one ends before it has the job."""
        try:
            await process.give(job)
        except (EOFError, ConnectionError):
            self._end(place)
            self._ensure_open()
            process = await self._fill(place)
            await process.give(job)
        return process

    async def _process_for(self, place: _Place) -> ScanProcess:
        if place.process is not None and place.process.is_alive:
            return place.process
        return await self._fill(place)

    async def _fill(self, place: _Place, *, reason: str = "replaced") -> ScanProcess:
        """A new process for the place. One that is left there from before is ended."""
        if place.process is not None:
            self._end(place)
            await place.process.gone()
            place.process = None
        cpu_s = math.ceil(self._time_limit_s)
        place.process = await ScanProcess.start(memory_bytes=self._memory_bytes, cpu_s=cpu_s, rules=self._start)
        metrics.SCANNER_STARTS.labels(reason).inc()
        return place.process

    def _load_rules(self) -> None:
        """The rules of today, once: every process of this pool is handed the same."""
        self._ruleset = load_rules(self._rules_folder)
        self._start = frame(Start(__version__, self._ruleset.version, self._ruleset.pack))

    def _end(self, place: _Place) -> None:
        if place.process is not None:
            place.process.kill()

    def _give_back(self, place: _Place) -> None:
        """Make the place free, after its process has been replaced if that is due."""
        process = place.process
        if process is not None and process.is_alive and process.jobs < self._jobs_per_process:
            self._free.put_nowait(place)
        elif self._is_open:
            self._fill_later(place, reason="replaced")

    def _fill_later(self, place: _Place, *, reason: str) -> None:
        """Give the place a process in the background, and make it free then.

        Where none can be started, others do the work while there are any; otherwise the next caller is told.
        """
        task = asyncio.create_task(self._fill_and_free(place, reason=reason))
        self._filling.add(task)
        task.add_done_callback(self._filling.discard)

    async def _fill_and_free(self, place: _Place, *, reason: str) -> None:
        try:
            await self._fill(place, reason=reason)
        except ScannerUnavailable as exc:
            _log.error("scan_process_not_started", error=exc.message)
            if self.pids:
                self._unused.append(place)
                return
        self._free.put_nowait(place)


async def _unseen_report(content: SkillContent, reason: str, *, ruleset_version: str, elapsed_ms: float) -> ScanReport:
    """What is said of a skill that could not be scanned: nothing is known of it, so a person has to look."""
    return ScanReport(
        name="",
        verdict=Verdict.CONCERNS,
        score=CONCERNS_FROM,
        flagged=True,
        content_digest=await asyncio.to_thread(content_digest, content),
        ruleset_version=ruleset_version,
        scanner_version=__version__,
        limits_hit=(reason,),
        duration_ms=round(elapsed_ms, 3),
    )
