"""`vskill-platform blocklist`, `block` and `unblock`: what may not be published."""

from __future__ import annotations

import asyncio

import typer
from rich.console import Console

from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json, print_table
from vskill_platform.cli.registry import open_registry
from vskill_platform.settings import Settings
from vskill_platform.web.views import Blocked, BlockRequest, BlockView, Unblock

HELP = "List what may not be published."
BLOCK_HELP = "Block bytes, a name or a repository, and stop what matches."
UNBLOCK_HELP = "Take an entry off the blocklist, and let what it stopped try again."


def blocklist(data: str | None = DATA, as_json: bool = AS_JSON) -> None:
    """List every entry with its key, which `unblock` takes."""
    found = asyncio.run(_list(settings_from(data=data)))
    if as_json:
        print_json(found)
        return
    rows = [
        [
            item.key,
            item.actor.value,
            item.created_at,
            plain(" ".join(filter(None, (item.skill_name, item.repo_url)))),
            plain(item.reason),
        ]
        for item in found
    ]
    print_table("Blocked", ["key", "by", "since", "what", "why"], rows, nothing="Nothing is blocked.")


def block(
    digest: str = typer.Option("", "--digest", help="The contentDigest of a skill."),
    name: str = typer.Option("", "--name", help="A skill's name; alone it holds in every repository."),
    repository: str = typer.Option("", "--repository", help="A repository's address."),
    reason: str = typer.Option(..., "--reason", help="Why. Everybody who meets the block is told."),
    data: str | None = DATA,
    as_json: bool = AS_JSON,
) -> None:
    """Block something. What is published and matches is withdrawn; what is under way and matches is stopped."""
    request = BlockRequest(digest=digest, skill_name=name, repo_url=repository, reason=reason)
    _tell(asyncio.run(_post(settings_from(data=data), "/api/v1/admin/blocklist", request)), "stopped", as_json=as_json)


def unblock(
    key: str = typer.Argument(..., help="The entry's key, as `blocklist` shows it."),
    reason: str = typer.Option("Taken back by `unblock`.", "--reason", help="Why. The audit log keeps it."),
    data: str | None = DATA,
    as_json: bool = AS_JSON,
) -> None:
    """Take an entry off the list. Submissions that it alone had stopped get a new run."""
    request = Unblock(key=key, reason=reason)
    _tell(
        asyncio.run(_post(settings_from(data=data), "/api/v1/admin/blocklist/remove", request)),
        "started",
        as_json=as_json,
    )


async def _list(settings: Settings) -> list[BlockView]:
    async with open_registry(settings) as registry:
        return await registry.get("/api/v1/admin/blocklist", list[BlockView])


async def _post(settings: Settings, path: str, request: BlockRequest | Unblock) -> Blocked:
    async with open_registry(settings) as registry:
        return await registry.post(path, Blocked, request)


def _tell(blocked: Blocked, verb: str, *, as_json: bool) -> None:
    if as_json:
        print_json(blocked)
        return
    console = Console(highlight=False, emoji=False)
    console.print(f"{plain(blocked.key)}: {len(blocked.submissions)} submissions {verb}.")
    for identity in blocked.submissions:
        console.print(f"  {identity}")
