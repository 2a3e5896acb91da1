"""`vskill-platform install`: put skills of a registry where agents read them, every byte checked."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import typer
from rich.console import Console

from vskill_platform.cli.client_options import (
    AGENT,
    GLOBAL,
    PROJECT,
    REGISTRY,
    TOKEN_FILE,
    client_limits,
    require_server,
    scope_of,
    server_and_token,
)
from vskill_platform.cli.printing import AS_JSON, plain, print_json
from vskill_platform.cli.progress import ProgressLines
from vskill_platform.client.agents import Agent, Scope, choose_agents
from vskill_platform.client.installing import install as install_skill
from vskill_platform.client.lock_file import LockedSkill, read_lock
from vskill_platform.client.skills import Skills, Wish, open_skills, parse_wish
from vskill_platform.domain.errors import InvalidInput, VskillError
from vskill_platform.domain.times import iso_from_ms

HELP = "Install skills of a registry for the agents of this project, or what the lock file lists."


class InstallAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What was installed, and whether the registry was told."""

    installed: list[LockedSkill]
    lock_file: str
    is_reported: bool


def install(
    wishes: list[str] = typer.Argument(
        None,
        metavar="SKILL",
        help="owner/repo/skill, or its last part; @VERSION names a version. Without any: the lock file.",
    ),
    agent: list[str] = AGENT,
    is_global: bool = GLOBAL,
    project: Path = PROJECT,
    force: bool = typer.Option(False, "--force", help="Replace folders that hold something else."),
    no_report: bool = typer.Option(
        False, "--no-report", help="Do not have the install counted; as DO_NOT_TRACK=1 does."
    ),
    server: str = REGISTRY,
    token_file: Path | None = TOKEN_FILE,
    as_json: bool = AS_JSON,
) -> None:
    """Install skills: blocked and yanked ones are refused, and every byte is held to what the registry has published.

    Without SKILL, install exactly what the lock file lists: the same versions and the same bytes.
    """
    scope = scope_of(project, is_global=is_global)
    listed = list(read_lock(scope.lock_path).skills.values())
    asked = [parse_wish(wish) for wish in wishes or ()]
    if not asked and not listed:
        raise InvalidInput(f"Name a skill: there is none in {scope.lock_path}.")
    chosen = choose_agents(agent, scope=scope)
    address, token = server_and_token(require_server(server) if asked else server, token_file, installed=listed)
    reports = not (no_report or os.environ.get("DO_NOT_TRACK", "0") not in ("", "0"))
    answer = asyncio.run(_install(address, token, asked, listed, scope, chosen, force=force, reports=reports))
    if as_json:
        print_json(answer)
    else:
        _print(answer)


async def _install(
    server: str,
    token: str,
    asked: Sequence[Wish],
    listed: Sequence[LockedSkill],
    scope: Scope,
    agents: Sequence[Agent],
    *,
    force: bool,
    reports: bool,
) -> InstallAnswer:
    digests = {} if asked else {skill.slug: skill.content_digest for skill in listed}
    wishes = asked or [Wish(skill.slug, skill.version) for skill in listed]
    async with open_skills(server, token=token) as skills:
        installed = [
            await install_skill(
                skills,
                wish,
                scope=scope,
                agents=agents if asked else (),
                now=now_iso(),
                limits=client_limits(),
                tell=ProgressLines().tell,
                force=force,
                digest=digests.get(wish.skill, ""),
            )
            for wish in wishes
        ]
        is_reported = reports and not skills.is_private and await _report(skills, installed)
    return InstallAnswer(installed=installed, lock_file=str(scope.lock_path), is_reported=is_reported)


async def _report(skills: Skills, installed: Sequence[LockedSkill]) -> bool:
    """Have the installs counted. That they were not is no reason to fail."""
    try:
        for skill in installed:
            await skills.report_install(skill.slug)
    except VskillError:
        return False
    return True


def now_iso() -> str:
    """The time, as the lock file has it."""
    return iso_from_ms(time.time_ns() // 1_000_000)


def _print(answer: InstallAnswer) -> None:
    console = Console(highlight=False, emoji=False)
    for skill in answer.installed:
        console.print(f"[green]installed[/] [bold]{plain(skill.slug)}[/] {plain(skill.version)}")
        console.print(f"  [dim]{plain(skill.content_digest)}, {len(skill.files)} files[/]")
        for folder in skill.folders:
            console.print(f"  {plain(folder)}", soft_wrap=True)
