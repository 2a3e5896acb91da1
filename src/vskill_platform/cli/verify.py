"""`vskill-platform verify`: whether installed skills are, byte by byte, what was installed and what was published."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console

from vskill_platform.cli.client_options import (
    DIFFERS,
    GLOBAL,
    PROJECT,
    REGISTRY,
    TAKEN_BACK,
    TOKEN_FILE,
    client_limits,
    require_server,
    scope_of,
    server_and_token,
)
from vskill_platform.cli.printing import AS_JSON, plain, print_json
from vskill_platform.client.agents import Scope
from vskill_platform.client.lock_file import LockedSkill, read_lock
from vskill_platform.client.skills import open_skills, parse_wish
from vskill_platform.client.verification import Verification, verify_installed, verify_offline, verify_stranger
from vskill_platform.domain.errors import InvalidInput

HELP = "Compare installed skills with the lock file and with what the registry has published."


def verify(
    folders: list[Path] = typer.Argument(
        None, metavar="FOLDER", help="Which folders; without any, every installed skill."
    ),
    skill: str = typer.Option(
        "", "--skill", help="Which skill the folder is to be, where no lock file says so (SKILL[@VERSION])."
    ),
    offline: bool = typer.Option(False, "--offline", help="Compare with the lock file alone and ask no registry."),
    is_global: bool = GLOBAL,
    project: Path = PROJECT,
    server: str = REGISTRY,
    token_file: Path | None = TOKEN_FILE,
    as_json: bool = AS_JSON,
) -> None:
    """Compare every file. Exit 3 where something differs, 4 where a skill was blocked, yanked or withdrawn since."""
    scope = scope_of(project, is_global=is_global)
    if skill:
        if offline or not folders:
            raise InvalidInput("With --skill, name a FOLDER, and let a registry be asked: leave --offline out.")
        found = asyncio.run(_verify_strangers(folders, skill, server, token_file))
    else:
        listed = _listed(folders or [], list(read_lock(scope.lock_path).skills.values()), scope)
        found = _verify_listed(listed, scope, server, token_file, offline=offline)
    if as_json:
        print_json({"skills": found})
    else:
        _print(found)
    raise typer.Exit(_code(found))


def _listed(
    folders: Sequence[Path], installed: list[LockedSkill], scope: Scope
) -> list[tuple[LockedSkill, list[Path]]]:
    """Every installed skill with its folders, or those that the given folders belong to. Raises InvalidInput."""
    places = [(skill, folder) for skill in installed for folder in scope.places(skill.chosen_agents, name=skill.name)]
    if not folders:
        return [(skill, [folder for one, folder in places if one is skill]) for skill in installed]
    found = []
    for folder in folders:
        skill = next((one for one, place in places if place.resolve() == folder.resolve()), None)
        if skill is None:
            raise InvalidInput(
                f"{scope.lock_path} does not list '{folder}'. Say which skill it is to be: --skill SKILL."
            )
        found.append((skill, [folder.absolute()]))
    return found


def _verify_listed(
    listed: Sequence[tuple[LockedSkill, list[Path]]],
    scope: Scope,
    server: str,
    token_file: Path | None,
    *,
    offline: bool,
) -> list[Verification]:
    limits = client_limits()
    if offline or not listed:
        return [verify_offline(skill, folders, scope=scope, limits=limits) for skill, folders in listed]
    address, token = server_and_token(server, token_file, installed=[skill for skill, _ in listed])

    async def ask() -> list[Verification]:
        async with open_skills(address, token=token) as skills:
            return await verify_installed(skills, listed, scope=scope, limits=limits)

    return asyncio.run(ask())


async def _verify_strangers(
    folders: Sequence[Path], skill: str, server: str, token_file: Path | None
) -> list[Verification]:
    address, token = server_and_token(require_server(server), token_file, installed=())
    async with open_skills(address, token=token) as skills:
        return [await verify_stranger(skills, parse_wish(skill), folder, limits=client_limits()) for folder in folders]


def _code(found: Sequence[Verification]) -> int:
    if any(one.is_taken_back for one in found):
        return TAKEN_BACK
    return 0 if all(one.is_same for one in found) else DIFFERS


def _print(found: Sequence[Verification]) -> None:
    console = Console(highlight=False, emoji=False)
    for one in found:
        verdict = "[green]same[/]" if one.is_same else "[red]differs[/]"
        console.print(f"{verdict} [bold]{plain(one.slug)}[/] {plain(one.version)} [dim]against {plain(one.against)}[/]")
        for problem in one.problems:
            console.print(f"  [red]{plain(problem)}[/]", soft_wrap=True)
        for folder in one.folders:
            for difference in folder.differences:
                told = f"{difference.change.value} {folder.folder}/{difference.path} {difference.detail}".rstrip()
                console.print(f"  {plain(told)}", soft_wrap=True)
    if not found:
        console.print("Nothing is installed here.")
