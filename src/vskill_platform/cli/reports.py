"""`vskill-platform reports` and `answer`: what people say is wrong, and what they are told."""

from __future__ import annotations

import asyncio

import typer
from rich.console import Console

from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json, print_table
from vskill_platform.cli.registry import open_registry
from vskill_platform.domain.report import ReportStatus
from vskill_platform.settings import Settings
from vskill_platform.web.api.report_views import ReportAnswer, ReportView

HELP = "List reports about skills and appeals against decisions."
ANSWER_HELP = "Settle a report or an appeal, and say why."


def reports(
    status: ReportStatus = typer.Option(ReportStatus.OPEN, "--status", help="Which ones."),
    data: str | None = DATA,
    as_json: bool = AS_JSON,
) -> None:
    """List them, the oldest first."""
    found = asyncio.run(_list(settings_from(data=data), status))
    if as_json:
        print_json(found)
        return
    rows = [
        [one.id, one.kind.value, plain(one.subject), one.reason.value, one.created_at, plain(one.text)] for one in found
    ]
    columns = ["id", "about", "what", "why", "since", "text"]
    print_table("Reports", columns, rows, nothing=f"No report is {status.value}.")


def answer(
    identity: str = typer.Argument(..., metavar="ID", help="The report (rep_…)."),
    upheld: bool = typer.Option(..., "--upheld/--dismissed", help="Whether it was right."),
    text: str = typer.Option(..., "--text", help="What whoever made it is told."),
    data: str | None = DATA,
    as_json: bool = AS_JSON,
) -> None:
    """Settle one. Nothing else follows by itself: `block` or `approve` what it is about."""
    status = ReportStatus.UPHELD if upheld else ReportStatus.DISMISSED
    request = ReportAnswer(id=identity, status=status, answer=text)
    view = asyncio.run(_answer(settings_from(data=data), request))
    if as_json:
        print_json(view)
    else:
        Console(highlight=False, emoji=False).print(f"{view.id} {view.status.value}: {plain(view.answer)}")


async def _list(settings: Settings, status: ReportStatus) -> list[ReportView]:
    async with open_registry(settings) as registry:
        return await registry.get("/api/v1/admin/reports", list[ReportView], status=status.value)


async def _answer(settings: Settings, request: ReportAnswer) -> ReportView:
    async with open_registry(settings) as registry:
        return await registry.post("/api/v1/admin/reports/answer", ReportView, request)
