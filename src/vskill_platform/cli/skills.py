"""`vskill-platform skills`: what is published."""

from __future__ import annotations

import asyncio

import typer

from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json, print_table
from vskill_platform.cli.registry import open_registry
from vskill_platform.settings import Settings
from vskill_platform.web.views import SkillPage

HELP = "List published skills."


def skills(
    search: str = typer.Argument("", help="Words to look for.", show_default=False),
    limit: int = typer.Option(50, "--limit", min=1, max=1000, help="How many to show."),
    offset: int = typer.Option(0, "--offset", min=0, help="How many to leave out at the beginning."),
    data: str | None = DATA,
    as_json: bool = AS_JSON,
) -> None:
    """List published skills, newest change first."""
    page = asyncio.run(_ask(settings_from(data=data), search, limit, offset))
    if as_json:
        print_json(page)
        return
    rows = [
        [plain(skill.slug), skill.version, skill.tier, str(skill.score), plain(skill.description)]
        for skill in page.skills
    ]
    title = f"{len(rows)} of {page.total} published skills"
    print_table(title, ["skill", "version", "tier", "score", ""], rows, nothing="No skill is published.")


async def _ask(settings: Settings, search: str, limit: int, offset: int) -> SkillPage:
    async with open_registry(settings) as registry:
        return await registry.get("/control/skills", SkillPage, search=search, limit=limit, offset=offset)
