"""`vskill-platform approve` and `reject`: a person decides about a skill that waits for one."""

from __future__ import annotations

import asyncio

import typer
from rich.console import Console

from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json
from vskill_platform.cli.registry import open_registry
from vskill_platform.settings import Settings
from vskill_platform.web.api.admin.results import ItemOutcome
from vskill_platform.web.views import Decide

APPROVE_HELP = "Publish a skill that waits for a person, as it was scanned."
REJECT_HELP = "Turn down a skill that waits for a person."
_ID = typer.Argument(..., metavar="ID", help="The submission (sub_…).")
_REASON = typer.Option(..., "--reason", help="Why. The submission's history keeps it.")


def approve(identity: str = _ID, reason: str = _REASON, data: str | None = DATA, as_json: bool = AS_JSON) -> None:
    """Publish the bytes that were scanned, although the scan flagged them."""
    _decide("/api/v1/admin/review/approve", identity, reason, settings_from(data=data), as_json=as_json)


def reject(identity: str = _ID, reason: str = _REASON, data: str | None = DATA, as_json: bool = AS_JSON) -> None:
    """Turn it down. It stays turned down until its source changes."""
    _decide("/api/v1/admin/review/reject", identity, reason, settings_from(data=data), as_json=as_json)


def _decide(path: str, identity: str, reason: str, settings: Settings, *, as_json: bool) -> None:
    outcome = asyncio.run(_post(settings, path, Decide(id=identity, reason=reason)))
    if as_json:
        print_json(outcome)
    else:
        Console(highlight=False, emoji=False).print(f"{outcome.id} {outcome.outcome}: {plain(outcome.detail)}")


async def _post(settings: Settings, path: str, decision: Decide) -> ItemOutcome:
    async with open_registry(settings) as registry:
        return await registry.post(path, ItemOutcome, decision)
