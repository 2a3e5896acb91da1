"""Holding a registry against an export, line by line, both in their order and neither in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import msgspec

from vskill_platform.domain.errors import ImportDiffers
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.moving.lines import Line, MessageLine, RecordLine, line_of
from vskill_platform.moving.manifest import BLOBS
from vskill_platform.moving.packing import IMPORT_KEY, list_blobs
from vskill_platform.moving.parts import read_blobs, read_lines
from vskill_platform.moving.progress import Progress
from vskill_platform.ports.blobs import Blobs
from vskill_platform.ports.clock import Clock
from vskill_platform.ports.inventory import KeptRow


async def compare_lines(
    folder: Path,
    name: str,
    rows: AsyncIterator[Sequence[KeptRow]],
    *,
    clock: Clock,
    total: int,
    progress: Progress,
) -> None:
    """Raise ImportDiffers unless the rows are the lines of the part, less what time alone has changed since."""
    expected = (placed.line for placed in read_lines(folder, name))
    done = 0
    async for chunk in rows:
        for line in map(line_of, chunk):
            if not _is_mark(line):
                _require_next(expected, line, name=name, clock=clock)
        done += len(chunk)
        progress(f"comparing {name}", min(done, total), total)
    for left in expected:
        if not _has_expired(left, now_ms=clock.now_ms()):
            raise _differs(name, left, "is not in the registry")


def _is_mark(line: Line) -> bool:
    return isinstance(line, RecordLine) and line.key == IMPORT_KEY


def _require_next(expected: Iterator[Line], found: Line, *, name: str, clock: Clock) -> None:
    for line in expected:
        now_ms = clock.now_ms()
        if found == line or found == _settled(line, now_ms=now_ms):
            return
        if not _has_expired(line, now_ms=now_ms):
            raise _differs(name, line, "is in the registry otherwise, or not at all")
    raise _differs(name, found, "is in the registry and not in the export")


def _has_expired(line: Line, *, now_ms: int) -> bool:
    return isinstance(line, RecordLine) and line.expires_ms is not None and line.expires_ms <= now_ms


def _settled(line: Line, *, now_ms: int) -> Line:
    """The line as it is once its delay is over."""
    if isinstance(line, MessageLine) and line.ready_ms is not None and line.ready_ms <= now_ms:
        return msgspec.structs.replace(line, status=MessageStatus.WAITING, ready_ms=None)
    return line


async def compare_blobs(folder: Path, blobs: Blobs, *, progress: Progress) -> None:
    """Raise ImportDiffers unless the stored blobs are those of the export. Their bytes were checked when they were put."""
    expected = read_blobs(folder, BLOBS)
    async for info in list_blobs(blobs):
        archived = next(expected, None)
        if archived is None or (archived.digest, len(archived.content)) != (info.digest, info.size):
            raise _differs(BLOBS, info.digest, "is among the blobs of the registry, and the export has another there")
        progress(f"comparing {BLOBS}", 0, None)
    left = next(expected, None)
    if left is not None:
        raise _differs(BLOBS, left.digest, "is not among the blobs of the registry")


def _differs(part: str, what: object, how: str) -> ImportDiffers:
    named = getattr(what, "key", None) or getattr(what, "id", None) or getattr(what, "sequence", None) or what
    return ImportDiffers(
        f"After the import, '{named}' of {part} {how}. Something else has written to this registry, or the import is at fault: "
        "stop every process on it and import into an empty one.",
        part=part,
    )
