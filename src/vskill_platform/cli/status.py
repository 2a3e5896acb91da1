"""`vskill-platform status`: how a submission stands, and why."""

from __future__ import annotations

import asyncio

import typer
from rich.console import Console

from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, print_json
from vskill_platform.cli.registry import SERVER, open_registry
from vskill_platform.cli.submission_text import print_submission
from vskill_platform.cli.submit import look
from vskill_platform.settings import Settings
from vskill_platform.web.views import SubmissionView

HELP = "Show how a submission stands, and why."


def status(
    identity: str = typer.Argument(..., metavar="ID", help="The submission's id (sub_…)."),
    server: str | None = SERVER,
    data: str | None = DATA,
    as_json: bool = AS_JSON,
) -> None:
    """Show a submission: its state, its history's last word, and every finding with file, line and fix."""
    view = asyncio.run(_ask(settings_from(data=data), server, identity))
    if as_json:
        print_json(view)
    else:
        print_submission(view, console=Console(highlight=False, emoji=False))


async def _ask(settings: Settings, server: str | None, identity: str) -> SubmissionView:
    async with open_registry(settings, server=server) as registry:
        return await look(registry, identity)
