"""Unpacking: an export into an empty registry, so that it can be killed at any moment and run again.

Every batch of rows is one commit together with the record that says how far the import has come. So a batch is in whole or not
at all, and the next run begins after the last one that is. Messages come last: whoever should be at work already, against all
advice, finds every record that a message is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import structlog

from vskill_platform.domain.errors import ImportUnfinished, MalformedRecord, RegistryNotEmpty
from vskill_platform.domain.records import Record
from vskill_platform.moving.catalog import document_of
from vskill_platform.moving.comparing import compare_blobs, compare_lines
from vskill_platform.moving.lines import RecordLine
from vskill_platform.moving.manifest import BLOBS, EVENTS, MESSAGES, RECORDS, Manifest, read_manifest
from vskill_platform.moving.packing import IMPORT_KEY, import_unfinished
from vskill_platform.moving.parts import PlacedLine, read_blobs, read_lines, verify_part
from vskill_platform.moving.progress import Progress, untold
from vskill_platform.ports.blobs import Blobs
from vskill_platform.ports.clock import Clock
from vskill_platform.ports.commit import ABSENT, Delete, Index, Operation, Put, Restore
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.kv import KV
from vskill_platform.stores.records import decode_record, encode_record

_BATCH_LINES = 500
_BATCH_BYTES = 4 * 1024 * 1024
_ORDER = (RECORDS, EVENTS, MESSAGES)
_log = structlog.get_logger(__name__)


class House(NamedTuple):
    """What a registry lives in."""

    engine: Engine
    blobs: Blobs
    clock: Clock


class ImportState(Record, frozen=True, kw_only=True, rename="camel"):
    """How far an import has come: of which export, in which part, and where in it the next line begins."""

    export: str
    part: str = RECORDS
    count: int = 0
    offset: int = 0


class _Mark(NamedTuple):
    """The state as it is stored, with the version that the next write of it must find."""

    state: ImportState
    version: int


_states = msgspec.json.Decoder(ImportState)


async def refuse_unfinished(kv: KV) -> None:
    """Raise ImportUnfinished where an import has begun and not ended."""
    if await kv.get(IMPORT_KEY) is not None:
        raise import_unfinished()


async def import_registry(house: House, *, folder: Path, progress: Progress = untold) -> Manifest:
    """Take in an export, or go on taking it in. Raises ExportRefused, RegistryNotEmpty, ImportUnfinished or ImportDiffers."""
    manifest = read_manifest(folder)
    for name in (*_ORDER, BLOBS):
        verify_part(folder, manifest.part(name), progress=progress)
    mark = await _begin(house, manifest)
    await _unpack_blobs(house.blobs, folder, manifest, progress=progress)
    for name in _ORDER[_ORDER.index(mark.state.part) :]:
        mark = await _unpack_lines(house.engine, folder, name, mark, total=manifest.part(name).count, progress=progress)
    await _compare(house, folder, manifest, progress=progress)
    await house.engine.writes.commit([Delete(IMPORT_KEY, if_version=mark.version)])
    return manifest


async def _begin(house: House, manifest: Manifest) -> _Mark:
    """Where to go on. A registry without a mark must be empty and gets one."""
    engine = house.engine
    entry = await engine.kv.get(IMPORT_KEY)
    if entry is None:
        await _require_empty(house)
        return await _move_mark(engine, _Mark(ImportState(export=manifest.digest), ABSENT))
    state = decode_record(IMPORT_KEY, entry.value, decoder=_states)
    if state.export != manifest.digest:
        raise ImportUnfinished(
            "Another export is being imported into this registry. Import that one to its end, or begin with an empty "
            "data folder or database."
        )
    return _Mark(state, entry.version)


async def _require_empty(house: House) -> None:
    async with house.engine.inventory() as inventory:
        for rows in (inventory.entries(), inventory.messages(), inventory.events()):
            async for chunk in rows:
                if chunk:
                    raise _not_empty()
    if (await house.blobs.list(limit=1)).blobs:
        raise _not_empty()


def _not_empty() -> RegistryNotEmpty:
    return RegistryNotEmpty(
        "This registry is not empty, or a process is at work on it. An import goes into an empty one only: name a new data "
        "folder or database, and start nothing on it before the import has ended."
    )


async def _move_mark(engine: Engine, mark: _Mark, *operations: Operation) -> _Mark:
    """Write the mark and the operations as one. A second import at the same time meets a Conflict."""
    put = Put(IMPORT_KEY, encode_record(mark.state), if_version=mark.version)
    committed = await engine.writes.commit([put, *operations])
    return mark._replace(version=committed.version)


async def _unpack_blobs(blobs: Blobs, folder: Path, manifest: Manifest, *, progress: Progress) -> None:
    """Blobs are written whole and known by their digest, so what is there was put there by the run before."""
    total = manifest.part(BLOBS).count
    for number, blob in enumerate(read_blobs(folder, BLOBS), start=1):
        known = await blobs.stat(blob.digest)
        if known is None or known.size != len(blob.content):
            await blobs.put(blob.content)
        progress(f"importing {BLOBS}", number, total)


async def _unpack_lines(
    engine: Engine, folder: Path, name: str, mark: _Mark, *, total: int, progress: Progress
) -> _Mark:
    """The rest of a part. The mark is moved to its beginning first, if it was in the part before."""
    state = mark.state
    if state.part != name:
        state = ImportState(export=state.export, part=name)
        mark = await _move_mark(engine, mark._replace(state=state))
    for batch in _batches(read_lines(folder, name, offset=state.offset), offset=state.offset):
        operations = [operation for placed in batch for operation in _restoring(placed)]
        count, offset = state.count + len(batch), batch[-1].next_offset
        state = ImportState(export=state.export, part=name, count=count, offset=offset)
        mark = await _move_mark(engine, mark._replace(state=state), *operations)
        progress(f"importing {name}", count, total)
    return mark


def _batches(lines: Iterator[PlacedLine], *, offset: int) -> Iterator[list[PlacedLine]]:
    """Lines in batches that fit one commit."""
    batch: list[PlacedLine] = []
    for placed in lines:
        batch.append(placed)
        if len(batch) == _BATCH_LINES or placed.next_offset - offset >= _BATCH_BYTES:
            yield batch
            batch, offset = [], placed.next_offset
    if batch:
        yield batch


def _restoring(placed: PlacedLine) -> list[Operation]:
    """The operations that write a line's row, and its document in the catalog if it has one."""
    restored: list[Operation] = [Restore(placed.line.row())]
    if isinstance(placed.line, RecordLine):
        try:
            document = document_of(placed.line.key, placed.line.content())
        except MalformedRecord as error:
            _log.warning("record_not_in_catalog", key=placed.line.key, error=error.message)
        else:
            restored += [] if document is None else [Index(document)]
    return restored


async def _compare(house: House, folder: Path, manifest: Manifest, *, progress: Progress) -> None:
    """Hold everything that is in the registry now against the export, line by line."""
    async with house.engine.inventory() as inventory:
        for name, rows in (
            (RECORDS, inventory.entries()),
            (EVENTS, inventory.events()),
            (MESSAGES, inventory.messages()),
        ):
            total = manifest.part(name).count
            await compare_lines(folder, name, rows, clock=house.clock, total=total, progress=progress)
    await compare_blobs(folder, house.blobs, progress=progress)
