"""Packing: everything a registry holds into a folder of parts, as of one moment.

What stays behind: compare-and-set versions, lease tokens and commit ids, which belong to the engine; the leases of processes
(`lease:`), which belong to the processes; and the catalog, which is made from the records wherever they arrive.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from vskill_platform import __version__
from vskill_platform.domain.errors import BlobMissing, ImportUnfinished
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.moving.lines import EventLine, Line, MessageLine, RecordLine, line_of
from vskill_platform.moving.manifest import (
    BLOBS,
    EVENTS,
    MESSAGES,
    RECORDS,
    Manifest,
    Part,
    make_folder,
    make_manifest,
    write_manifest,
)
from vskill_platform.moving.parts import writing_part
from vskill_platform.moving.progress import Progress, untold
from vskill_platform.ports.blobs import BlobInfo, Blobs
from vskill_platform.ports.inventory import Inventory, KeptRow

IMPORT_KEY = "import:unfinished"
"""The record that is there while an import has begun and not ended."""

_STAYS_BEHIND = ("lease:",)


async def export_registry(
    inventory: Inventory, blobs: Blobs, *, folder: Path, now_ms: int, progress: Progress = untold
) -> Manifest:
    """Write the export into a new folder and say what is in it. Raises ImportUnfinished for a registry that is none yet."""
    make_folder(folder)
    parts = [
        await _pack_lines(folder, RECORDS, lines_of(inventory.entries()), progress=progress),
        await _pack_lines(folder, MESSAGES, lines_of(inventory.messages()), progress=progress),
        await _pack_lines(folder, EVENTS, lines_of(inventory.events()), progress=progress),
        await _pack_blobs(folder, blobs, progress=progress),
    ]
    manifest = make_manifest(parts, software=__version__, exported_at=iso_from_ms(now_ms))
    write_manifest(folder, manifest)
    return manifest


async def lines_of(chunks: AsyncIterator[Sequence[KeptRow]]) -> AsyncIterator[list[Line]]:
    """The lines of what moves, chunk by chunk."""
    async for chunk in chunks:
        yield [line for line in map(line_of, chunk) if _moves(line)]


def _moves(line: Line) -> bool:
    if not isinstance(line, RecordLine):
        return True
    if line.key == IMPORT_KEY:
        raise import_unfinished()
    return not line.key.startswith(_STAYS_BEHIND)


def import_unfinished() -> ImportUnfinished:
    """What is said of a registry whose import has not ended."""
    return ImportUnfinished(
        "An import into this registry has not ended, so it holds only a part of what it should. Run the same "
        "vskill-platform import again, and it goes on where it stopped; or begin with an empty data folder or database."
    )


async def _pack_lines(folder: Path, name: str, chunks: AsyncIterator[list[Line]], *, progress: Progress) -> Part:
    with writing_part(folder, name) as part:
        async for lines in chunks:
            for line in lines:
                part.write_line(line, kind=_kind(line))
            progress(f"writing {name}", part.count, None)
        return part.finish()


def _kind(line: Line) -> str:
    match line:
        case RecordLine(key=key):
            return key.partition(":")[0]
        case MessageLine(status=status):
            return status.value
        case EventLine(kind=kind):
            return kind


async def _pack_blobs(folder: Path, blobs: Blobs, *, progress: Progress) -> Part:
    """The blobs come last: whatever the records name was there before them, and stays for a day after.

    What is collected meanwhile had been named by nothing for a day, and is left out.
    """
    with writing_part(folder, BLOBS) as part:
        async for info in list_blobs(blobs):
            try:
                part.write_blob(info.digest, await blobs.get(info.digest))
            except BlobMissing:
                continue
            progress(f"writing {BLOBS}", part.count, None)
        part.end_archive()
        return part.finish()


async def list_blobs(blobs: Blobs) -> AsyncIterator[BlobInfo]:
    """Every blob, in the order of the digests."""
    cursor: str | None = None
    while True:
        page = await blobs.list(cursor=cursor)
        for info in page.blobs:
            yield info
        if page.complete:
            return
        cursor = page.cursor
