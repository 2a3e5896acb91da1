"""`vskill-platform rebuild-catalog`: the lists and the search, made from the records anew."""

from __future__ import annotations

import asyncio

import msgspec
import typer
from rich.console import Console

from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json
from vskill_platform.cli.progress import ProgressLines
from vskill_platform.cli.registry import open_registry
from vskill_platform.moving.catalog import CatalogSlice
from vskill_platform.moving.progress import Progress
from vskill_platform.settings import Settings
from vskill_platform.web.views import RebuildRequest

HELP = "Make lists, counts and search agree with the records."
DRY_RUN = typer.Option(False, "--dry-run", help="Only say what differs.")
_MOST_TOLD = 20
_REASON = "By `rebuild-catalog`."


def rebuild_catalog(data: str | None = DATA, dry_run: bool = DRY_RUN, as_json: bool = AS_JSON) -> None:
    """Hold the catalog against the records and mend what differs. Safe while the registry runs, and as often as you like."""
    found = asyncio.run(_walk(settings_from(data=data), ProgressLines().tell, is_dry_run=dry_run))
    if as_json:
        print_json(found)
        return
    console = Console(highlight=False, emoji=False, soft_wrap=True)
    for sentence in found.told:
        console.print(plain(sentence))
    wrong = found.missing + found.differing + found.unbacked
    done = "would be" if dry_run else "were"
    console.print(
        f"{found.examined:,} records. {wrong:,} documents {done} mended: {found.missing:,} missing, {found.differing:,} "
        f"differing, {found.unbacked:,} without a record. {found.malformed:,} records cannot be read."
    )


async def _walk(settings: Settings, progress: Progress, *, is_dry_run: bool) -> CatalogSlice:
    """Every slice, added up."""
    total = CatalogSlice(examined=0, missing=0, differing=0, unbacked=0, malformed=0, told=[], cursor=None)
    async with open_registry(settings) as registry:
        while True:
            request = RebuildRequest(cursor=total.cursor, is_dry_run=is_dry_run, reason=_REASON)
            total = _add(total, await registry.post("/api/v1/admin/catalog/rebuild", CatalogSlice, request))
            progress("looking at records", total.examined, None)
            if total.cursor is None:
                return total


def _add(total: CatalogSlice, found: CatalogSlice) -> CatalogSlice:
    counts = {
        name: getattr(total, name) + getattr(found, name)
        for name in ("examined", "missing", "differing", "unbacked", "malformed")
    }
    told = [*total.told, *found.told][:_MOST_TOLD]
    return msgspec.structs.replace(total, **counts, told=told, cursor=found.cursor)
