"""`vskill-platform find`: search the skills of a registry."""

from __future__ import annotations

import asyncio
from pathlib import Path

import typer
from rich.console import Console
from rich.padding import Padding

from vskill_platform.cli.client_options import REGISTRY, TOKEN_FILE, require_server, token_of
from vskill_platform.cli.printing import AS_JSON, plain, print_json
from vskill_platform.client.answers import SearchAnswer
from vskill_platform.client.skills import open_skills

HELP = "Search the skills of a registry."


def find(
    words: list[str] = typer.Argument(..., metavar="QUERY", help="Words to look for."),
    limit: int = typer.Option(20, "--limit", min=1, max=200, help="How many to show."),
    server: str = REGISTRY,
    token_file: Path | None = TOKEN_FILE,
    as_json: bool = AS_JSON,
) -> None:
    """Search the skills of a registry, the best first. Exit 1 where nothing is found."""
    found = asyncio.run(_search(require_server(server), token_of(token_file), " ".join(words), limit))
    if as_json:
        print_json(found)
    else:
        _print(found)
    if not found.skills:
        raise typer.Exit(1)


async def _search(server: str, token: str, words: str, limit: int) -> SearchAnswer:
    async with open_skills(server, token=token) as skills:
        return await skills.search(words, limit=limit)


def _print(found: SearchAnswer) -> None:
    console = Console(highlight=False, emoji=False)
    if not found.skills:
        console.print("No skill matches.")
        return
    for skill in found.skills:
        about = f"{skill.version}, {skill.tier}, {skill.score} of 100"
        console.print(f"[bold]{plain(skill.slug)}[/]  [dim]{plain(about)}[/]", soft_wrap=True)
        console.print(Padding(plain(skill.description), (0, 0, 0, 2)))
    total = len(found.skills) if found.total is None else found.total
    console.print(f"[dim]{len(found.skills)} of {total} skills. Install one with: vskill-platform install SKILL[/]")
