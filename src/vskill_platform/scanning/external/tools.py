"""What an adapter has to know of its tool, and the scanner that runs such a tool once for each skill."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Protocol

import msgspec
import structlog

from vskill_platform.children.workspace import Workspace
from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.errors import VskillError
from vskill_platform.domain.external_scan import ExternalReport
from vskill_platform.scanning.external.environments import Environment
from vskill_platform.scanning.external.materialising import materialise
from vskill_platform.scanning.external.normalising import Sightings, bounded, failed_report, report_of
from vskill_platform.scanning.external.sandbox import EndedBy, Outcome, Sandbox, SandboxLimits

SKILL_FOLDER = "skill"
SCRATCH_FOLDER = "scratch"
_log = structlog.get_logger(__name__)


class Unreadable(Exception):
    """A tool's answer makes no sense, or says that the tool did not do its work. It does not leave this room."""


class Tool(Protocol):
    """A tool that is started once for each skill."""

    @property
    def name(self) -> str:
        """What the operator calls it."""
        ...

    def missing_because(self) -> str:
        """Why the tool cannot be run though its environment is whole; empty where it can."""
        ...

    def nothing_to_do(self, content: SkillContent) -> str:
        """Why the tool has nothing to look at in this skill, in a sentence; empty where it has."""
        ...

    def command(self, content: SkillContent, *, python: Path, skill: Path) -> list[str]:
        """The command line over the skill's folder. Suppressions and configuration in the skill must not count."""
        ...

    def variables(self) -> Mapping[str, str]:
        """What the tool needs in its environment."""
        ...

    def read(self, outcome: Outcome) -> Sightings:
        """What the tool says. Raises Unreadable, or a MsgspecError, where that cannot be told from what it printed."""
        ...


class ToolScanner:
    """An external scanner that runs its tool for each skill, in the sandbox."""

    def __init__(self, tool: Tool, *, environment: Environment | None, sandbox: Sandbox, workspace: Workspace) -> None:
        self._tool = tool
        self._environment = environment
        self._sandbox = sandbox
        self._workspace = workspace
        self._version = environment.pinned_version() if environment else ""

    @property
    def name(self) -> str:
        """What the operator calls it."""
        return self._tool.name

    async def unavailable_because(self) -> str:
        """Why it cannot be asked on this machine; empty where it can."""
        missing = self._environment.missing_because() if self._environment else ""
        return missing or self._tool.missing_because() or await self._sandbox.refusal()

    async def scan(self, content: SkillContent) -> ExternalReport:
        """What the tool says of this content."""
        began = perf_counter()
        refusal = await self.unavailable_because()
        if refusal:
            return failed_report(refusal, provider=self.name, version=self._version)
        note = self._tool.nothing_to_do(content)
        if note:
            return report_of(
                Sightings(note=note),
                provider=self.name,
                version=self._version,
                content=content,
                folder="",
                duration_ms=milliseconds_since(began),
            )
        try:
            return await self._scan_on_disk(content, began=began)
        except (OSError, VskillError) as exc:
            _log.warning("external_scan_not_started", provider=self.name, error=str(exc))
            reason = f"{self.name} could not be started: {bounded(str(exc), limit=200)}."
            return failed_report(
                reason, provider=self.name, version=self._version, duration_ms=milliseconds_since(began)
            )

    async def _scan_on_disk(self, content: SkillContent, *, began: float) -> ExternalReport:
        async with self._workspace.folder() as folder:
            skill, scratch = folder / SKILL_FOLDER, folder / SCRATCH_FOLDER
            await asyncio.to_thread(materialise, content, skill)
            scratch.mkdir(mode=0o700)
            outcome = await self._sandbox.run(
                self._tool.command(content, python=self._python(), skill=skill),
                folder=scratch,
                kept=[folder, *([self._environment.folder] if self._environment else [])],
                environment=self._tool.variables(),
            )
            return await asyncio.to_thread(self._report, outcome, content=content, skill=skill, began=began)

    def _report(self, outcome: Outcome, *, content: SkillContent, skill: Path, began: float) -> ExternalReport:
        failure = limit_sentence(outcome.ended_by, name=self.name, limits=self._sandbox.limits)
        sightings = Sightings()
        if not failure:
            try:
                sightings = self._tool.read(outcome)
            except (Unreadable, msgspec.MsgspecError, UnicodeError, RecursionError) as exc:
                failure = _nonsense(outcome, name=self.name, error=exc)
        if failure:
            is_late = outcome.ended_by is EndedBy.TIME
            _log.warning("external_scan_failed", provider=self.name, reason=failure)
            return failed_report(
                failure,
                provider=self.name,
                version=self._version,
                is_late=is_late,
                duration_ms=milliseconds_since(began),
            )
        return report_of(
            sightings,
            provider=self.name,
            version=self._version,
            content=content,
            folder=str(skill),
            duration_ms=milliseconds_since(began),
        )

    def _python(self) -> Path:
        return self._environment.python if self._environment else Path("/usr/bin/python3")


def limit_sentence(ended_by: EndedBy, *, name: str, limits: SandboxLimits) -> str:
    """Which limit a tool passed, in a sentence; empty where it ended by itself."""
    return {
        EndedBy.ITSELF: "",
        EndedBy.TIME: f"{name} took longer than the {limits.time_s:g} s that it may take.",
        EndedBy.MEMORY: f"{name} used more memory than the {limits.memory_bytes:,} bytes that it may use.",
        EndedBy.OUTPUT: f"{name} printed more than the {limits.output_bytes:,} bytes that it may print.",
        EndedBy.PROCESSES: f"{name} started more processes than it may start.",
    }[ended_by]


def _nonsense(outcome: Outcome, *, name: str, error: Exception) -> str:
    """Why the answer of a tool does not count. What it complained about last says most."""
    lines = [line for line in outcome.errors.splitlines() if line.strip()]
    said = f" It said: {bounded(lines[-1], limit=300)}" if lines else ""
    reason = str(error) if isinstance(error, Unreadable) else "its answer is not in the form that it should have"
    return f"{name} ended with status {outcome.status} and no result: {reason}.{said}"


def milliseconds_since(began: float) -> float:
    """How long it is since a moment of `perf_counter`."""
    return (perf_counter() - began) * 1e3
