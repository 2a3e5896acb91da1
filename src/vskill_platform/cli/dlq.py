"""`vskill-platform dlq`: the dead letters, and removing one for good."""

from __future__ import annotations

import asyncio

import typer

from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json, print_table
from vskill_platform.cli.registry import open_registry
from vskill_platform.settings import Settings
from vskill_platform.web.api.admin.results import BulkResult, ItemOutcome
from vskill_platform.web.views import DeadLetter, DeadLetterPage, Ids

HELP = "List dead letters, or drop some."


def dlq(
    data: str | None = DATA,
    drop: list[str] = typer.Option([], "--drop", help="Message to remove for good; may be given again."),
    reason: str = typer.Option("", "--reason", help="Why it is dropped; the event log and the audit log keep it."),
    as_json: bool = AS_JSON,
) -> None:
    """List messages that were given up after their last attempt. `requeue` sends one back."""
    settings = settings_from(data=data)
    if drop:
        outcomes = asyncio.run(_drop(settings, drop, reason))
        if as_json:
            print_json(outcomes)
        else:
            rows = [[plain(item.id), item.outcome, item.detail] for item in outcomes]
            print_table("Dropped", ["message", "outcome", ""], rows, nothing="")
        return
    letters = asyncio.run(_list(settings))
    if as_json:
        print_json(letters)
        return
    rows = [
        [letter.id, plain(letter.submission_id), str(letter.attempts), letter.sent_at, plain(letter.error)]
        for letter in letters
    ]
    columns = ["message", "submission", "attempts", "sent", "last error"]
    print_table("Dead letters", columns, rows, nothing="There are no dead letters.")


async def _list(settings: Settings) -> list[DeadLetter]:
    letters: list[DeadLetter] = []
    cursor: str | None = None
    async with open_registry(settings) as registry:
        while True:
            page = await registry.get("/api/v1/admin/dead-letters", DeadLetterPage, cursor=cursor, limit=1000)
            letters += page.messages
            cursor = page.cursor
            if cursor is None:
                return letters


async def _drop(settings: Settings, ids: list[str], reason: str) -> list[ItemOutcome]:
    async with open_registry(settings) as registry:
        result = await registry.post("/api/v1/admin/dead-letters/drop", BulkResult, Ids(ids=ids, reason=reason))
        return result.outcomes
