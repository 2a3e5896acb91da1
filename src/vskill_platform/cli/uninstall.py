"""`vskill-platform uninstall`: take installed skills away from agents, and out of the lock file."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console

from vskill_platform.cli.client_options import GLOBAL, PROJECT, client_limits, named_among, scope_of
from vskill_platform.cli.printing import AS_JSON, plain, print_json
from vskill_platform.client.agents import EVERY, choose_agents
from vskill_platform.client.lock_file import read_lock
from vskill_platform.client.removing import Removed
from vskill_platform.client.removing import uninstall as uninstall_skill

HELP = "Remove installed skills from the folders of agents, and from the lock file."


def uninstall(
    wishes: list[str] = typer.Argument(..., metavar="SKILL", help="owner/repo/skill, or the name of its folder."),
    agent: list[str] = typer.Option(
        [],
        "--agent",
        "-a",
        metavar="NAME",
        help="From which agents, may come several times. Default: from all that have it.",
        show_default=False,
    ),
    is_global: bool = GLOBAL,
    project: Path = PROJECT,
    force: bool = typer.Option(False, "--force", help="Remove folders that were changed since they were installed."),
    as_json: bool = AS_JSON,
) -> None:
    """Remove skills without asking the registry. Folders that were changed since stay, unless --force says otherwise.

    A folder that several agents read stays until the last of them is named, or none is.
    """
    scope = scope_of(project, is_global=is_global)
    chosen = named_among(list(read_lock(scope.lock_path).skills.values()), wishes)
    agents = choose_agents(agent, scope=scope) if agent and EVERY not in agent else []
    removed = [
        uninstall_skill(slug, scope=scope, agents=[one.name for one in agents], limits=client_limits(), force=force)
        for slug in dict.fromkeys(skill.slug for skill in chosen)
    ]
    if as_json:
        print_json({"removed": removed})
    else:
        _print(removed)


def _print(removed: list[Removed]) -> None:
    console = Console(highlight=False, emoji=False)
    for skill in removed:
        console.print(f"[green]removed[/] [bold]{plain(skill.slug)}[/] {plain(skill.version)}")
        for folder in skill.folders:
            console.print(f"  {plain(folder)}", soft_wrap=True)
        if skill.still_for:
            console.print(f"  [dim]still there for {plain(', '.join(skill.still_for))}[/]", soft_wrap=True)
