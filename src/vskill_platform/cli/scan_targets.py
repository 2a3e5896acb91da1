"""What a scan is pointed at: a folder, every skill below a folder, or a repository; and each skill's report in turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec

from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.errors import UnreadableSkill, VskillError
from vskill_platform.domain.repository import normalise_repository_url
from vskill_platform.domain.scan import ScanReport, Verdict
from vskill_platform.domain.skill_folders import is_below
from vskill_platform.ingest.folder import read_folder
from vskill_platform.ingest.git import GitSource
from vskill_platform.ingest.limits import skill_limits
from vskill_platform.ports.scanner import Scanner
from vskill_platform.settings import Settings

IN_FLIGHT_A_PROCESS = 2
"""Skills that are read while one is scanned, so that no process waits for the disk."""


@dataclass(frozen=True, kw_only=True)
class ScannedSkill:
    """The public answer of a scan: where the skill is, and the report on it. `error` is set where it cannot be read."""

    path: str
    report: ScanReport
    error: VskillError | None = None

    def public(self) -> dict[str, object]:
        """The answer as it is printed: one flat object."""
        builtins: dict[str, object] = msgspec.to_builtins(self.report)
        told = {} if self.error is None else {"error": {"code": self.error.code, "message": self.error.message}}
        return {"path": self.path, **builtins, **told}


class Target(NamedTuple):
    """One skill to scan, and how to get its content."""

    path: str
    read: Callable[[], SkillContent]


def folder_target(path: Path, *, shown: str, settings: Settings) -> Target:
    """A skill in a folder."""
    limits = skill_limits(settings)
    return Target(shown, lambda: read_folder(path, limits=limits))


async def repository_targets(url: str, settings: Settings) -> list[Target]:
    """Every skill of a repository, fetched and read. Raises SourceRefused or SourceUnreachable."""
    address = normalise_repository_url(url)
    targets: list[Target] = []
    async with GitSource(settings) as source, source.fetch(address.url, tree_path=address.tree_path) as snapshot:
        for folder in snapshot.folders:
            if not is_below(folder.path, snapshot.asked_for):
                continue
            try:
                content = await snapshot.read_skill(folder.path)
            except UnreadableSkill as error:
                targets.append(Target(folder.path or ".", _raising(error)))
            else:
                targets.append(Target(folder.path or ".", _giving(content)))
    return targets


def _giving(content: SkillContent) -> Callable[[], SkillContent]:
    return lambda: content


def _raising(error: VskillError) -> Callable[[], SkillContent]:
    def read() -> SkillContent:
        raise error

    return read


async def scan_targets(
    targets: Sequence[Target], scanner: Scanner, *, in_flight: int
) -> AsyncIterator[tuple[int, ScannedSkill]]:
    """Scan all targets, some side by side; each with its position, as they end."""
    waiting = iter(enumerate(targets))
    running: set[asyncio.Task[tuple[int, ScannedSkill]]] = set()

    async def scan_at(position: int, target: Target) -> tuple[int, ScannedSkill]:
        return position, await scan_target(target, scanner)

    try:
        while True:
            while len(running) < in_flight and (item := next(waiting, None)) is not None:
                running.add(asyncio.create_task(scan_at(*item)))
            if not running:
                return
            ended, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                yield task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def scan_target(target: Target, scanner: Scanner) -> ScannedSkill:
    """Scan one. A skill that cannot be read has a report too: it names what is wrong, and never says PASS."""
    try:
        content = await asyncio.to_thread(target.read)
    except UnreadableSkill as error:
        report = ScanReport(
            name="",
            verdict=Verdict.CONCERNS,
            score=0,
            flagged=True,
            content_digest="",
            ruleset_version="",
            scanner_version="",
            limits_hit=(error.code,),
        )
        return ScannedSkill(path=target.path, report=report, error=error)
    return ScannedSkill(path=target.path, report=await scanner.scan(content))
