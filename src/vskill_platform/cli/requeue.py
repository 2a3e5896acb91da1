"""`vskill-platform requeue` and `rescan`: send submissions through again."""

from __future__ import annotations

import asyncio

import typer

from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json, print_table
from vskill_platform.cli.registry import open_registry
from vskill_platform.settings import Settings
from vskill_platform.web.api.admin.requests import Reason
from vskill_platform.web.api.admin.results import BulkResult, ItemOutcome
from vskill_platform.web.views import Ids

HELP = "Send submissions or dead letters back into the queue."
RESCAN_HELP = "Scan published skills again, by the rules of today."
_SUBMISSIONS = "/api/v1/admin/submissions"


def requeue(
    ids: list[str] = typer.Argument(..., help="Submissions (sub_…) or messages (msg_…)."),
    reason: str = typer.Option("Sent back by `requeue`.", "--reason", help="Why. The audit log keeps it."),
    data: str | None = DATA,
    as_json: bool = AS_JSON,
) -> None:
    """Make dead letters deliverable again, and start a new run of submissions that have ended."""
    outcomes = asyncio.run(_post(settings_from(data=data), f"{_SUBMISSIONS}/requeue", Ids(ids=ids, reason=reason)))
    _tell(outcomes, as_json=as_json)
    if any(item.outcome in ("refused", "lost") for item in outcomes):
        raise typer.Exit(1)


def rescan(
    ids: list[str] = typer.Argument(None, help="Published skills (owner/repo/skill) or their submissions (sub_…)."),
    outdated: bool = typer.Option(False, "--outdated", help="All that other rules were applied to, up to 1000 a call."),
    reason: str = typer.Option("Scanned again by `rescan`.", "--reason", help="Why. The audit log keeps it."),
    data: str | None = DATA,
    as_json: bool = AS_JSON,
) -> None:
    """Scan the published bytes again. Nothing is fetched; what fails now is withdrawn."""
    if bool(ids) == outdated:
        raise typer.BadParameter("Name skills or submissions, or give --outdated.")
    path = f"{_SUBMISSIONS}/rescan-outdated" if outdated else f"{_SUBMISSIONS}/rescan"
    body = Reason(reason=reason) if outdated else Ids(ids=ids, reason=reason)
    outcomes = asyncio.run(_post(settings_from(data=data), path, body))
    _tell(outcomes, as_json=as_json)
    if any(item.outcome == "refused" for item in outcomes):
        raise typer.Exit(1)


async def _post(settings: Settings, path: str, body: Ids | Reason) -> list[ItemOutcome]:
    async with open_registry(settings) as registry:
        return (await registry.post(path, BulkResult, body)).outcomes


def _tell(outcomes: list[ItemOutcome], *, as_json: bool) -> None:
    if as_json:
        print_json(outcomes)
        return
    rows = [[plain(item.id), item.outcome.replace("_", " "), plain(item.detail)] for item in outcomes]
    print_table("Sent back", ["id", "outcome", ""], rows, nothing="Nothing to do.")
