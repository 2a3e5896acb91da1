"""`vskill-platform scan`: what tier 1 says of a folder, of every skill below one, or of a repository. Nothing is kept."""

from __future__ import annotations

import asyncio
import sys
from enum import StrEnum
from pathlib import Path

import msgspec
import typer
from rich.console import Console
from rich.progress import Progress

from vskill_platform.cli.options import RULES, settings_from
from vskill_platform.cli.printing import plain, print_json, verdict_text
from vskill_platform.cli.scan_targets import (
    IN_FLIGHT_A_PROCESS,
    ScannedSkill,
    Target,
    folder_target,
    repository_targets,
    scan_targets,
)
from vskill_platform.cli.submission_text import findings_text
from vskill_platform.domain.content import SKILL_FILE_NAMES
from vskill_platform.domain.errors import UnreadableSkill
from vskill_platform.domain.scan import Severity
from vskill_platform.ingest.escaping import printable
from vskill_platform.ingest.folder import find_skill_folders
from vskill_platform.scanning.pool import ScannerPool
from vskill_platform.scanning.sarif import sarif_log
from vskill_platform.scanning.tier1.packs import load_rules
from vskill_platform.scanning.tier1.rules import Ruleset
from vskill_platform.settings import Settings

HELP = "Scan a skill's folder, every skill below a folder (--batch), or a repository."
EXIT_FOUND, EXIT_UNREADABLE = 1, 2


class Format(StrEnum):
    """How reports are printed."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    SARIF = "sarif"


def scan(
    target: str | None = typer.Argument(None, metavar="PATH|URL", help="A skill's folder, or a repository's address."),
    batch: Path | None = typer.Option(None, "--batch", metavar="DIR", help="Scan every skill folder below DIR."),
    fmt: Format = typer.Option(Format.TEXT, "--format", help="How to print the reports."),
    fail_on: Severity | None = typer.Option(
        None,
        "--fail-on",
        help="Exit 1 from this severity on. Default: where the skill would not be published without a person.",
        show_default=False,
    ),
    rules: str | None = RULES,
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress and, with text, only verdicts."),
) -> None:
    """Scan without a registry. Exit 0: passed; 1: findings at or above --fail-on; 2: wrong usage, or unreadable."""
    if (target is None) == (batch is None):
        raise typer.BadParameter("Give a PATH or URL, or --batch DIR.")
    settings = settings_from(rules_folder=rules)
    scanned = asyncio.run(_scan_all(target, batch, settings, shows_progress=not quiet))
    is_list = batch is not None or "://" in (target or "")
    _print(scanned, fmt, ruleset=load_rules(settings.rules_folder), quiet=quiet, is_list=is_list)
    raise typer.Exit(_exit_code(scanned, fail_on))


async def _scan_all(
    target: str | None, batch: Path | None, settings: Settings, *, shows_progress: bool
) -> list[ScannedSkill]:
    console = Console(stderr=True, quiet=not (shows_progress and sys.stderr.isatty()))
    with console.status("Looking for skills"):
        targets = await _find_targets(target, batch, settings)
    return await scan_everything(targets, settings, shows_progress=shows_progress and len(targets) > 1)


async def scan_everything(targets: list[Target], settings: Settings, *, shows_progress: bool) -> list[ScannedSkill]:
    """Scan all targets in the pool, with a progress bar on standard error; reports in the order of the targets."""
    scanned: dict[int, ScannedSkill] = {}
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not (shows_progress and console.is_terminal)) as progress:
        task = progress.add_task("Scanning", total=len(targets))
        async with ScannerPool(settings) as pool:
            async for position, skill in scan_targets(targets, pool, in_flight=pool.size * IN_FLIGHT_A_PROCESS):
                scanned[position] = skill
                progress.advance(task)
    return [scanned[position] for position in range(len(targets))]


async def _find_targets(target: str | None, batch: Path | None, settings: Settings) -> list[Target]:
    if batch is not None:
        folders = await asyncio.to_thread(find_skill_folders, batch)
        if not folders:
            raise UnreadableSkill(f"There is no folder with a SKILL.md below '{batch}'.", path=str(batch))
        return [folder_target(folder, shown=printable(str(folder)), settings=settings) for folder in folders]
    assert target is not None
    if "://" in target:
        return await repository_targets(target, settings)
    return [_one_folder(target, settings)]


def _one_folder(target: str, settings: Settings) -> Target:
    path = Path(target)
    if not path.is_dir():
        raise UnreadableSkill(f"'{target}' is no folder here, and no address such as https://host/owner/name.")
    if not any((path / name).is_file() for name in SKILL_FILE_NAMES):
        raise UnreadableSkill(
            f"'{target}' is no folder with a SKILL.md. To scan the skills below it, use --batch {target}."
        )
    return folder_target(path, shown=target, settings=settings)


def _print(scanned: list[ScannedSkill], fmt: Format, *, ruleset: Ruleset, quiet: bool, is_list: bool) -> None:
    match fmt:
        case Format.JSON:
            print_json([skill.public() for skill in scanned] if is_list else scanned[0].public())
        case Format.JSONL:
            for skill in scanned:
                typer.echo(msgspec.json.encode(skill.public()))
        case Format.SARIF:
            print_json(sarif_log([(skill.path, skill.report) for skill in scanned], ruleset=ruleset))
        case Format.TEXT:
            _print_text(scanned, quiet=quiet)


def _print_text(scanned: list[ScannedSkill], *, quiet: bool) -> None:
    console = Console(file=sys.stdout, highlight=False, emoji=False, soft_wrap=True)
    for skill in scanned:
        report = skill.report
        findings = "1 finding" if len(report.findings) == 1 else f"{len(report.findings)} findings"
        told = f"[dim]{report.score} of 100, {findings}, {report.duration_ms:.0f} ms[/]"
        console.print(f"{verdict_text(report.verdict)} [bold]{plain(skill.path)}[/] {told}")
        if skill.error is not None:
            console.print(f"  [red]{skill.error.code}[/] {plain(skill.error.message)}")
        if quiet:
            continue
        for limit in report.limits_hit:
            console.print(f"  [yellow]not seen[/] {plain(limit)}")
        for text in findings_text(report.findings):
            console.print(text)
        if report.findings:
            console.print()
    if len(scanned) > 1:
        flagged = sum(skill.report.flagged for skill in scanned)
        console.print(f"{len(scanned)} skills, {flagged} flagged.")


def _exit_code(scanned: list[ScannedSkill], fail_on: Severity | None) -> int:
    if all(skill.error is not None for skill in scanned):
        return EXIT_UNREADABLE
    return EXIT_FOUND if any(_fails(skill, fail_on) for skill in scanned) else 0


def _fails(skill: ScannedSkill, fail_on: Severity | None) -> bool:
    if fail_on is None or skill.report.limits_hit:
        return skill.report.flagged
    order = list(Severity)
    return any(order.index(finding.severity) <= order.index(fail_on) for finding in skill.report.findings)
