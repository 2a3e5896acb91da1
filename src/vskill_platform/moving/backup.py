"""What a backup needs beside the copy of the database: every blob, and the proof that none is lacking."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from vskill_platform import __version__
from vskill_platform.domain.errors import BackupDamaged, BlobMissing, MalformedRecord
from vskill_platform.domain.ids import SUBMISSION_PREFIX, VERSION_PREFIX, Digest
from vskill_platform.moving.manifest import sync_folder
from vskill_platform.moving.packing import IMPORT_KEY, import_unfinished, list_blobs
from vskill_platform.moving.progress import Progress
from vskill_platform.ports.blobs import Blobs
from vskill_platform.ports.inventory import Inventory
from vskill_platform.stores.submissions import pinned_digest
from vskill_platform.stores.versions import archive_digests

BACKUP_NAME = "backup.json"


class Backup(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a backup says of itself."""

    software: str
    made_at: str
    database_sha256: str
    database_bytes: int
    records: int
    messages: int
    events: int
    blobs: int


async def copy_blobs(source: Blobs, target: Blobs, *, progress: Progress) -> int:
    """Copy every blob, each checked against its digest as it is read, and say how many there were.

    What is collected meanwhile had been named by nothing for a day, and is left out.
    """
    copied = 0
    async for info in list_blobs(source):
        try:
            content = await source.get(info.digest)
        except BlobMissing:
            continue
        await target.put(content)
        copied += 1
        progress("copying blobs", copied, None)
    return copied


async def describe_backup(
    inventory: Inventory, blobs: Blobs, *, database: Path, made_at: str, copied: int, progress: Progress
) -> Backup:
    """Look through the copy and say what is in it. Raises BackupDamaged where it names a blob that was not copied."""
    records = 0
    async for chunk in inventory.entries():
        for entry in chunk:
            await _require_blobs(entry.key, entry.value, blobs)
        records += len(chunk)
        progress("checking records", records, None)
    digest, size = _measure_file(database)
    return Backup(
        software=__version__,
        made_at=made_at,
        database_sha256=digest,
        database_bytes=size,
        records=records,
        messages=sum([len(chunk) async for chunk in inventory.messages()]),
        events=sum([len(chunk) async for chunk in inventory.events()]),
        blobs=copied,
    )


def write_description(folder: Path, backup: Backup) -> None:
    """Put what a backup says of itself beside it, last of all."""
    with (folder / BACKUP_NAME).open("xb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(backup)) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    sync_folder(folder)
    sync_folder(folder.parent)


async def _require_blobs(key: str, value: bytes, blobs: Blobs) -> None:
    if key == IMPORT_KEY:
        raise import_unfinished()
    for digest in _named_blobs(key, value):
        if await blobs.stat(digest) is None:
            raise BackupDamaged(
                f"'{key}' names the blob {digest}, which the registry does not have. The copy is as complete as the registry "
                "is; restore the blob there from an older backup, and make a new one.",
                key=key,
                digest=digest,
            )


def _named_blobs(key: str, value: bytes) -> Iterator[Digest]:
    """The blobs that a record names. One that cannot be read names none; it is copied as it is."""
    try:
        if key.startswith(SUBMISSION_PREFIX):
            pinned = pinned_digest(key, value)
            yield from () if pinned is None else (pinned,)
        elif key.startswith(VERSION_PREFIX):
            yield from archive_digests(key, value)
    except MalformedRecord:
        return


def _measure_file(path: Path) -> tuple[str, int]:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
