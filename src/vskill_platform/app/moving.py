"""Moving and copying the registry that the settings name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from vskill_platform.app.stores import (
    BLOBS_NAME,
    DATABASE_NAME,
    database_path,
    open_blobs,
    open_engine,
    require_registry,
)
from vskill_platform.domain.errors import BackupElsewhere
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.engines.blobs import BlobFolder
from vskill_platform.engines.sqlite import copy_database, take_inventory
from vskill_platform.moving.backup import Backup, copy_blobs, describe_backup, write_description
from vskill_platform.moving.manifest import Manifest, make_folder
from vskill_platform.moving.packing import export_registry
from vskill_platform.moving.progress import Progress
from vskill_platform.moving.unpacking import House, import_registry
from vskill_platform.ports.clock import Clock, SystemClock
from vskill_platform.ports.inventory import Inventory
from vskill_platform.settings import Settings


async def export_to(settings: Settings, *, folder: Path, progress: Progress) -> Manifest:
    """Export the registry as of this moment, whether or not it runs."""
    clock = SystemClock()
    require_registry(settings)
    async with _open_inventory(settings, clock=clock) as inventory:
        blobs = open_blobs(settings, clock=clock)
        return await export_registry(inventory, blobs, folder=folder, now_ms=clock.now_ms(), progress=progress)


@asynccontextmanager
async def _open_inventory(settings: Settings, *, clock: Clock) -> AsyncIterator[Inventory]:
    """Everything as of now. A SQLite file is read beside the process that owns it, and never owned."""
    if not settings.database_url:
        path, now_ms = database_path(settings), clock.now_ms()
        async with take_inventory(path, now_ms=now_ms, max_attempts=settings.max_attempts) as inventory:
            yield inventory
        return
    engine = await open_engine(settings, clock=clock, role="export")
    try:
        async with engine.inventory() as inventory:
            yield inventory
    finally:
        await engine.close()


async def import_from(settings: Settings, *, folder: Path, progress: Progress) -> Manifest:
    """Import an export into the registry. Raises DataFolderOwned where that runs on SQLite."""
    clock = SystemClock()
    blobs = open_blobs(settings, clock=clock)
    engine = await open_engine(settings, clock=clock, role="import")
    try:
        return await import_registry(House(engine, blobs, clock), folder=folder, progress=progress)
    finally:
        await engine.close()


async def back_up_to(settings: Settings, *, folder: Path, progress: Progress) -> Backup:
    """Copy the registry into a new data folder, whether or not it runs. Raises BackupElsewhere on PostgreSQL."""
    clock = SystemClock()
    _require_file(settings)
    require_registry(settings)
    make_folder(folder)
    copy, blobs, now_ms = folder / DATABASE_NAME, BlobFolder(folder / BLOBS_NAME, clock=clock), clock.now_ms()
    await asyncio.to_thread(
        copy_database, database_path(settings), copy, on_pages=partial(progress, "copying pages of the database")
    )
    copied = await copy_blobs(open_blobs(settings, clock=clock), blobs, progress=progress)
    made_at = iso_from_ms(now_ms)
    async with take_inventory(copy, now_ms=now_ms, max_attempts=settings.max_attempts) as inventory:
        backup = await describe_backup(
            inventory, blobs, database=copy, made_at=made_at, copied=copied, progress=progress
        )
    write_description(folder, backup)
    return backup


def _require_file(settings: Settings) -> None:
    if settings.database_url:
        raise BackupElsewhere(
            "This registry is in PostgreSQL, which has better backups than this command could make: use pg_dump or a physical "
            "backup, and copy the blobs after it. `vskill-platform export` makes a copy that any engine can be restored from."
        )
