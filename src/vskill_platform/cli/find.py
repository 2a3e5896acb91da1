"""`vskill-platform find`: search the skills of a registry."""

from __future__ import annotations

import asyncio
from pathlib import Path

import typer

from vskill_platform.cli.client_options import REGISTRY, TOKEN_FILE, require_server, token_of
from vskill_platform.cli.printing import AS_JSON, plain, print_json, print_table
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
    rows = [
        [plain(skill.slug), plain(skill.version), plain(skill.tier), str(skill.score), plain(skill.description)]
        for skill in found.skills
    ]
    total = len(rows) if found.total is None else found.total
    print_table(
        f"{len(rows)} of {total} skills", ["skill", "version", "tier", "score", ""], rows, nothing="No skill matches."
    )
