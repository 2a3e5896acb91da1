"""`vskill-platform stuck`: submissions that have not moved for five minutes, and what the queue knows of them."""

from __future__ import annotations

import asyncio

from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, for_people, plain, print_json, print_table, state_text
from vskill_platform.cli.registry import open_registry
from vskill_platform.settings import Settings
from vskill_platform.stores.stuck import StuckItem, StuckItems

HELP = "List submissions that look stuck."


def stuck(data: str | None = DATA, as_json: bool = AS_JSON) -> None:
    """List submissions that have not moved for five minutes. The sweep sends lost ones again by itself."""
    found = asyncio.run(_ask(settings_from(data=data)))
    if as_json:
        print_json(found)
        return
    rows = [
        [
            item.id,
            state_text(item.state),
            for_people(item.stuck_for_ms),
            f"{item.message.value}, {item.attempts} attempts",
            plain(f"{item.repo_url} {item.skill_name}"),
            plain(item.error),
        ]
        for item in found
    ]
    columns = ["submission", "state", "for", "message", "of", "last error"]
    print_table("Look stuck", columns, rows, nothing="Nothing is stuck.")


async def _ask(settings: Settings) -> list[StuckItem]:
    found: list[StuckItem] = []
    cursor: str | None = None
    async with open_registry(settings) as registry:
        while True:
            page = await registry.get("/api/v1/admin/stuck", StuckItems, cursor=cursor, limit=1000)
            found += page.items
            cursor = page.cursor
            if cursor is None:
                return found
