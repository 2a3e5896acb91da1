"""`vskill-platform skills`: what is published, and the versions of one skill."""

from __future__ import annotations

import asyncio

import typer
from rich.console import Console

from vskill_platform.cli.capability_text import print_capabilities, print_changes
from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json, print_table
from vskill_platform.cli.registry import open_registry
from vskill_platform.domain.slug import is_current_slug
from vskill_platform.settings import Settings
from vskill_platform.web.views import SkillPage, SkillView

HELP = "List published skills, or show the versions of one."


def skills(
    search: str = typer.Argument(
        "", metavar="WORDS|SKILL", help="Words to look for, or a skill (owner/repo/skill).", show_default=False
    ),
    limit: int = typer.Option(50, "--limit", min=1, max=1000, help="How many to show."),
    offset: int = typer.Option(0, "--offset", min=0, help="How many to leave out at the beginning."),
    data: str | None = DATA,
    as_json: bool = AS_JSON,
) -> None:
    """List published skills, newest change first; of one skill, its versions and what each of them can do that is new."""
    settings = settings_from(data=data)
    if is_current_slug(search):
        _show(asyncio.run(_ask_for(settings, search)), as_json=as_json)
        return
    page = asyncio.run(_ask(settings, search, limit, offset))
    if as_json:
        print_json(page)
        return
    rows = [
        [plain(skill.slug), skill.version, skill.tier, str(skill.score), plain(skill.description)]
        for skill in page.skills
    ]
    title = f"{len(rows)} of {page.total} published skills"
    print_table(title, ["skill", "version", "tier", "score", ""], rows, nothing="No skill is published.")


def _show(view: SkillView, *, as_json: bool) -> None:
    if as_json:
        print_json(view)
        return
    console = Console(highlight=False, emoji=False)
    withdrawn = " [red]withdrawn[/]" if view.is_withdrawn else ""
    console.print(f"[bold]{plain(view.slug)}[/]{withdrawn} {plain(view.description)}")
    for version in view.versions:
        yanked = f"  [red]yanked[/] {plain(version.yank_reason)}" if version.yanked_at else ""
        told = f"{version.tier}, {version.verdict}, {version.score} of 100, {version.published_at}"
        console.print(f"\n[bold]{plain(version.version)}[/]  [dim]{plain(told)}[/]{yanked}")
        if version.capability_changes is not None:
            print_changes(version.capability_changes, console=console)
        else:
            print_capabilities(version.capabilities, console=console)


async def _ask_for(settings: Settings, slug: str) -> SkillView:
    async with open_registry(settings) as registry:
        return await registry.get("/api/v1/admin/skill", SkillView, slug=slug)


async def _ask(settings: Settings, search: str, limit: int, offset: int) -> SkillPage:
    async with open_registry(settings) as registry:
        return await registry.get("/api/v1/admin/skills", SkillPage, search=search, limit=limit, offset=offset)
