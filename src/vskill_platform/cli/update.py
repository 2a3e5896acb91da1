"""`vskill-platform update`: take the newest versions of installed skills, once somebody has seen what changes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec
import typer
from rich.console import Console

from vskill_platform.cli.client_options import (
    GLOBAL,
    PROJECT,
    REGISTRY,
    TOKEN_FILE,
    client_limits,
    named_among,
    scope_of,
    server_and_token,
)
from vskill_platform.cli.install import now_iso
from vskill_platform.cli.printing import AS_JSON, plain, print_json
from vskill_platform.cli.progress import ProgressLines
from vskill_platform.cli.standing_text import exit_code, print_standing
from vskill_platform.client.agents import Scope
from vskill_platform.client.answers import ChangedFile
from vskill_platform.client.installing import install
from vskill_platform.client.lock_file import LockedSkill, read_lock
from vskill_platform.client.skills import Skills, Wish, open_skills
from vskill_platform.client.standing import Standing, look_at
from vskill_platform.domain.errors import VskillError

HELP = "Take the newest versions of installed skills, after showing what changes."


class UpdateResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How every skill stood, which files would change, and what was put in place."""

    skills: list[Standing]
    changes: dict[str, list[ChangedFile]]
    updated: list[LockedSkill]


def update(
    wishes: list[str] = typer.Argument(None, metavar="SKILL", help="Which ones; without any, all that are installed."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask."),
    force: bool = typer.Option(False, "--force", help="Replace folders that were changed since they were installed."),
    is_global: bool = GLOBAL,
    project: Path = PROJECT,
    server: str = REGISTRY,
    token_file: Path | None = TOKEN_FILE,
    as_json: bool = AS_JSON,
) -> None:
    """Show what would change, ask, and replace. Without --yes and without a terminal, nothing is replaced.

    Exit 3 where something is still outdated, 4 where something was blocked, yanked or withdrawn and nothing replaces it.
    """
    scope = scope_of(project, is_global=is_global)
    installed = named_among(list(read_lock(scope.lock_path).skills.values()), wishes or [])
    if not installed:
        Console(highlight=False, emoji=False, stderr=as_json).print("Nothing is installed here.")
        return
    address, token = server_and_token(server, token_file, installed=installed)
    result = asyncio.run(_update(address, token, installed, scope, yes=yes, force=force, console=_console(as_json)))
    if as_json:
        print_json(result)
    done = {skill.slug for skill in result.updated}
    raise typer.Exit(exit_code([one for one in result.skills if (one.current_slug or one.slug) not in done]))


def _console(as_json: bool) -> Console:
    return Console(highlight=False, emoji=False, stderr=as_json)


async def _update(
    server: str,
    token: str,
    installed: Sequence[LockedSkill],
    scope: Scope,
    *,
    yes: bool,
    force: bool,
    console: Console,
) -> UpdateResult:
    async with open_skills(server, token=token) as skills:
        standings = await look_at(skills, installed)
        changes: dict[str, list[ChangedFile]] = {}
        updated: list[LockedSkill] = []
        for standing in standings:
            print_standing(standing, console=console)
            if not standing.has_update:
                continue
            changes[standing.slug] = await _changed_files(skills, standing)
            for change in changes[standing.slug]:
                console.print(f"  {plain(change.change)} {plain(change.path)}", soft_wrap=True)
            if yes or _is_wanted(standing):
                updated.append(await _replace(skills, standing, scope, force=force))
                console.print(f"  [green]updated[/] to {plain(updated[-1].version)}")
            else:
                console.print("  [dim]Nothing was replaced. Do it with --yes.[/]")
        return UpdateResult(skills=standings, changes=changes, updated=updated)


async def _replace(skills: Skills, standing: Standing, scope: Scope, *, force: bool) -> LockedSkill:
    return await install(
        skills,
        Wish(standing.current_slug or standing.slug, standing.latest or ""),
        scope=scope,
        agents=(),
        now=now_iso(),
        limits=client_limits(),
        tell=ProgressLines().tell,
        force=force,
        former=standing.slug,
    )


async def _changed_files(skills: Skills, standing: Standing) -> list[ChangedFile]:
    """Which files differ; none are told where the registry cannot compare the two."""
    try:
        slug = standing.current_slug or standing.slug
        return (await skills.compare(slug, standing.installed, standing.latest or "")).files
    except VskillError:
        return []


def _is_wanted(standing: Standing) -> bool:
    """Ask whoever sits at the terminal; nobody there wants nothing."""
    if not typer.get_text_stream("stdin").isatty():
        return False
    return typer.confirm(f"Replace {standing.slug} {standing.installed} with {standing.latest}?")
