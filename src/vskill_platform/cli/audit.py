"""`vskill-platform audit …`: whether the audit log is whole, and all of it as lines of JSON."""

from __future__ import annotations

import asyncio
import sys

import msgspec
import typer
from rich.console import Console

from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json
from vskill_platform.cli.registry import RegistryClient, open_registry
from vskill_platform.settings import Settings
from vskill_platform.web.api.admin.audit import AuditList, ChainView

HELP = "The audit log: verify that it is whole, or export it."
_PAGE = 500
audit = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@audit.command(
    help="Follow the chain of the audit log to its end. Exit 1 where an entry was changed, removed or moved."
)
def verify(data: str | None = DATA, as_json: bool = AS_JSON) -> None:
    """Verify the audit log. The hash that is printed can be noted elsewhere, to be compared with one of later."""
    found = asyncio.run(_verify(settings_from(data=data)))
    if as_json:
        print_json(found)
    else:
        console = Console(highlight=False, emoji=False)
        console.print(f"[{'green' if found.is_whole else 'bold red'}]{plain(found.detail)}[/]")
        console.print(f"[dim]The end of the chain is {found.hash}.[/]")
    if not found.is_whole:
        raise typer.Exit(1)


@audit.command(help="Print the audit log as lines of JSON, oldest first, with the hashes.")
def export(
    after: int = typer.Option(0, "--after", min=0, help="The number of an entry: only what came after it."),
    data: str | None = DATA,
) -> None:
    """Export the audit log."""
    asyncio.run(_export(settings_from(data=data), after))


async def _verify(settings: Settings) -> ChainView:
    async with open_registry(settings) as registry:
        return await registry.post("/api/v1/admin/audit/verify", ChainView, {})


async def _export(settings: Settings, after: int) -> None:
    """Ask for one stretch of entries after the other, so that nothing holds the whole log."""
    encoder = msgspec.json.Encoder()
    async with open_registry(settings) as registry:
        last = await _last_number(registry)
        while after < last:
            upto = min(after + _PAGE, last)
            page = await registry.get("/api/v1/admin/audit", AuditList, before=upto + 1, limit=upto - after)
            sys.stdout.buffer.write(encoder.encode_lines(page.entries[::-1]))
            after = upto
    sys.stdout.buffer.flush()


async def _last_number(registry: RegistryClient) -> int:
    newest = await registry.get("/api/v1/admin/audit", AuditList, limit=1)
    return newest.entries[0].number if newest.entries else 0
