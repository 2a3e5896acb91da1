"""`vskill-platform info`: what a skill of a registry is, and how it was judged."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import typer
from rich.console import Console

from vskill_platform.cli.capability_text import print_capabilities
from vskill_platform.cli.client_options import REGISTRY, TOKEN_FILE, require_server, token_of
from vskill_platform.cli.printing import AS_JSON, plain, print_json
from vskill_platform.client.answers import BlockEntry, SecurityAnswer, SkillAnswer, VersionAnswer, VersionRow
from vskill_platform.client.skills import Wish, open_skills, parse_wish

HELP = "Show a skill of a registry: verdict, findings, capabilities and versions."
_MOST_VERSIONS = 10


class SkillInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """All that the registry says of one version of a skill."""

    server: str
    skill: SkillAnswer
    version: VersionAnswer
    security: SecurityAnswer
    blocks: list[BlockEntry]
    versions: list[VersionRow]


def info(
    skill: str = typer.Argument(
        ..., metavar="SKILL", help="owner/repo/skill, or its last part; @VERSION names a version."
    ),
    server: str = REGISTRY,
    token_file: Path | None = TOKEN_FILE,
    as_json: bool = AS_JSON,
) -> None:
    """Show what a skill is, how it was judged and why, what it can do, and which versions there are."""
    found = asyncio.run(_ask(require_server(server), token_of(token_file), parse_wish(skill)))
    if as_json:
        print_json(found)
    else:
        _print(found)


async def _ask(server: str, token: str, wish: Wish) -> SkillInfo:
    async with open_skills(server, token=token) as skills:
        wish = await skills.resolve(wish)
        skill = await skills.show(wish.skill)
        version = await skills.version(skill.slug, wish.version or skill.version)
        return SkillInfo(
            server=skills.server,
            skill=skill,
            version=version,
            security=await skills.security(skill.slug, version=version.version),
            blocks=await skills.blocks(
                version.slug, name=version.name, digest=version.content_digest, repo_url=version.repo_url
            ),
            versions=(await skills.versions(skill.slug)).versions,
        )


def _print(found: SkillInfo) -> None:
    console = Console(highlight=False, emoji=False)
    skill, version, security = found.skill, found.version, found.security
    console.print(f"[bold]{plain(skill.slug)}[/] {plain(version.version)}  {plain(skill.description)}")
    console.print(f"{plain(security.verdict)}, {security.score} of 100, {plain(security.tier)}")
    for block in found.blocks:
        console.print(f"[red]blocked[/] by its {plain(block.kind)}: {plain(block.reason)}")
    if version.yanked_at:
        console.print(f"[red]yanked[/] {plain(version.yank_reason)}")
    console.print(f"[dim]{plain(skill.repo_url)} at {plain(skill.commit)}\n{plain(version.content_digest)}[/]")
    print_capabilities(security.capabilities, console=console)
    if security.findings is None:
        console.print("[dim]The report on this version is no longer kept.[/]")
    for finding in security.findings or ():
        place = f"{finding.file}:{finding.line}" if finding.line else finding.file
        console.print(f"{plain(finding.severity)}  {plain(finding.rule_id)}  {plain(place)}  {plain(finding.message)}")
        console.print(f"    [dim]{plain(finding.fix)}[/]")
    told = [f"{row.version}{' (yanked)' if row.yanked_at else ''}" for row in found.versions[:_MOST_VERSIONS]]
    console.print(f"[dim]Versions: {plain(', '.join(told))}[/]")
    console.print(f"[dim]Install it with: vskill-platform install {plain(skill.slug)}[/]")
