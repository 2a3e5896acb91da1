"""`vskill-platform health`: asks the running registry over its control socket, or looks into its store itself."""

from __future__ import annotations

import asyncio

from rich.console import Console
from rich.table import Table

from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json
from vskill_platform.cli.registry import open_registry
from vskill_platform.domain.redaction import hide_password
from vskill_platform.settings import Settings
from vskill_platform.stores.health import Health

HELP = "Show how the queue and the submissions stand."


def health(data: str | None = DATA, as_json: bool = AS_JSON) -> None:
    """Show how the queue and the submissions stand."""
    found, place = asyncio.run(_ask(settings_from(data=data)))
    if as_json:
        print_json(found)
    else:
        Console(highlight=False, emoji=False).print(health_table(found, place=place))


async def _ask(settings: Settings) -> tuple[Health, str]:
    from vskill_platform.app import control_socket

    is_running = control_socket(settings) is not None
    place = hide_password(settings.database_url) or ("running" if is_running else "not running")
    async with open_registry(settings) as registry:
        return await registry.get("/healthz", Health), place


def health_table(found: Health, *, place: str) -> Table:
    """How a registry stands, for people."""
    table = Table(title=f"Registry {found.version}, {plain(place)}", show_header=False)
    queue = found.queue
    if found.trouble is not None:
        table.add_row("trouble", found.trouble)
    table.add_row(
        "queue", f"{queue.waiting} waiting, {queue.delayed} delayed, {queue.leased} in work, {queue.dead} dead"
    )
    if queue.oldest_age_ms is not None:
        table.add_row("oldest message", f"{queue.oldest_age_ms / 1000:.0f} s")
    if queue.paused is not None:
        table.add_row("paused", f"until {queue.paused.until}: {queue.paused.reason}")
    for name, count in found.submissions.items():
        table.add_row(f"submissions, {name}", str(count))
    return table
