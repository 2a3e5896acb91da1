"""`vskill-platform outdated`: which installed skills have a newer version, or were taken back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import typer
from rich.console import Console

from vskill_platform.cli.client_options import GLOBAL, PROJECT, REGISTRY, TOKEN_FILE, scope_of, server_and_token
from vskill_platform.cli.printing import AS_JSON, print_json
from vskill_platform.cli.standing_text import exit_code, print_standing
from vskill_platform.client.lock_file import LockedSkill, read_lock
from vskill_platform.client.skills import open_skills
from vskill_platform.client.standing import Standing, StandingStatus, look_at

HELP = "Show which installed skills have a newer version, or were blocked, yanked or withdrawn."


def outdated(
    is_global: bool = GLOBAL,
    project: Path = PROJECT,
    server: str = REGISTRY,
    token_file: Path | None = TOKEN_FILE,
    as_json: bool = AS_JSON,
) -> None:
    """Ask the registry about every installed skill. Exit 3 where something is outdated, 4 where something was taken back."""
    installed = list(read_lock(scope_of(project, is_global=is_global).lock_path).skills.values())
    standings: list[Standing] = []
    if installed:
        address, token = server_and_token(server, token_file, installed=installed)
        standings = asyncio.run(_look(address, token, installed))
    if as_json:
        print_json({"skills": standings})
    else:
        _print(standings)
    raise typer.Exit(exit_code(standings))


async def _look(server: str, token: str, installed: list[LockedSkill]) -> list[Standing]:
    async with open_skills(server, token=token) as skills:
        return await look_at(skills, installed)


def _print(standings: list[Standing]) -> None:
    console = Console(highlight=False, emoji=False)
    for standing in standings:
        if standing.status is not StandingStatus.CURRENT:
            print_standing(standing, console=console)
    current = sum(standing.status is StandingStatus.CURRENT for standing in standings)
    console.print(f"[dim]{current} of {len(standings)} installed skills are current.[/]")
