"""`vskill-platform doctor`: looks at everything that a registry needs and says what to do."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json
from vskill_platform.domain.errors import InvalidSettings
from vskill_platform.settings import Settings

if TYPE_CHECKING:
    from vskill_platform.app.doctor import Finding

HELP = "Check settings, database, blobs, git and scanner, and say what to do. Exit 1 where something fails."
_COLOURS = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def doctor(data: str | None = DATA, as_json: bool = AS_JSON) -> None:
    """Look at everything once. A registry that runs is neither stopped nor changed."""
    from vskill_platform.app.doctor import Outcome

    findings = asyncio.run(_examine(data, shows=not as_json))
    if as_json:
        print_json(findings)
    if any(finding.outcome is Outcome.FAIL for finding in findings):
        raise typer.Exit(1)


async def _examine(data: str | None, *, shows: bool) -> list[Finding]:
    from vskill_platform.app.doctor import Finding, Outcome, examine

    console = Console(highlight=False, emoji=False, quiet=not shows)
    findings: list[Finding] = []
    try:
        settings: Settings = settings_from(data=data)
    except InvalidSettings as error:
        advice = "Correct it: nothing else can be looked at before."
        findings.append(Finding(name="settings", outcome=Outcome.FAIL, detail=error.message, advice=advice))
        _print(findings[0], console)
        return findings
    async for finding in examine(settings):
        findings.append(finding)
        _print(finding, console)
    return findings


def _print(finding: Finding, console: Console) -> None:
    word = finding.outcome.value
    console.print(f"[{_COLOURS[word]}]{word:4}[/] [bold]{finding.name}[/] {plain(finding.detail)}", soft_wrap=True)
    if finding.advice:
        console.print(f"     {plain(finding.advice)}", soft_wrap=True)
