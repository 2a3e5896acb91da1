"""`vskill-platform erase-email`: a person's address, out of everything that the registry holds."""

from __future__ import annotations

import asyncio

import typer
from rich.console import Console

from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json
from vskill_platform.cli.registry import open_registry
from vskill_platform.settings import Settings
from vskill_platform.web.api.admin.contacts import EraseRequest
from vskill_platform.web.api.own_views import Erased

HELP = "Erase an e-mail address from accounts and submissions."


def erase_email(
    address: str = typer.Argument(..., help="The address, in any case."),
    reason: str = typer.Option("Its owner asked for it.", "--reason", help="Why. The audit log keeps it."),
    data: str | None = DATA,
    as_json: bool = AS_JSON,
) -> None:
    """Erase an address. Backups and exports that were made before still have it: erase it again after restoring one."""
    erased = asyncio.run(_erase(settings_from(data=data), EraseRequest(email=address, reason=reason)))
    if as_json:
        print_json(erased)
    else:
        Console(highlight=False, emoji=False).print(plain(erased.detail))


async def _erase(settings: Settings, request: EraseRequest) -> Erased:
    async with open_registry(settings) as registry:
        return await registry.post("/api/v1/admin/contacts/erase", Erased, request)
