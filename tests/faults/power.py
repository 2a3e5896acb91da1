"""Power cuts: a log of what SQLite asked of the disk, and the disks that a cut at any point of it may leave.

A crash image is everything that was synced, and of the rest whatever chance kept. Of each write that was not synced, any
sectors may be there, in any order, whole or cut short; a file that grew may hold zeros or rubbish where its bytes did not
arrive. A name is safe once its folder was synced: before that a new file may be missing, and a deleted one back.

One promise of the disk is relied upon, as SQLite does by default: a write does not change bytes beside it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from vskill_platform.testing.vfs import DiskAction, DiskCall, DiskHooks

SECTORS = (512, 4096)


@dataclass(slots=True)
class DiskLog(DiskHooks):
    """Every call that changes the disk. A write is noted before it is done, a sync once it is.

    `ignores_syncs` plants a fault: a disk that answers every sync at once and does nothing.
    """

    calls: list[DiskCall] = field(default_factory=list)
    ignores_syncs: bool = False

    def on_call(self, call: DiskCall) -> None:
        if call.path and call.action is not DiskAction.SYNC:
            self.calls.append(call)

    def on_done(self, call: DiskCall) -> None:
        if call.path and call.action is DiskAction.SYNC and not self.ignores_syncs:
            self.calls.append(call)


@dataclass(slots=True)
class _File:
    """What is certainly on the disk of a file, and what was asked for since."""

    content: bytearray = field(default_factory=bytearray)
    pending: list[DiskCall] = field(default_factory=list)

    def sync(self) -> None:
        for call in self.pending:
            _apply(self.content, call)
        self.pending.clear()


@dataclass(slots=True)
class _Folder:
    """The names as the running system sees them, and as they are certainly on the disk."""

    names: dict[str, _File] = field(default_factory=dict)
    kept: dict[str, _File] = field(default_factory=dict)

    def take(self, call: DiskCall) -> None:
        name = Path(call.path).name
        match call.action:
            case DiskAction.OPEN:
                self.names.setdefault(name, _File())
            case DiskAction.DELETE:
                self.names.pop(name, None)
            case DiskAction.SYNC:
                self.names[name].sync()
            case DiskAction.WRITE | DiskAction.TRUNCATE:
                self.names[name].pending.append(call)
        if call.syncs_folder:
            self.kept = dict(self.names)


def leave_image(calls: Iterable[DiskCall], folder: Path, *, chance: random.Random) -> None:
    """Write what a power cut after these calls may leave into a folder."""
    state = _Folder()
    for call in calls:
        state.take(call)
    folder.mkdir(parents=True)
    eagerness = chance.choice((0.0, 0.1, 0.5, 0.9, 1.0))
    for name in sorted({*state.names, *state.kept}):
        before, after = state.kept.get(name), state.names.get(name)
        file = chance.choice((before, after))
        if file is not None:
            (folder / name).write_bytes(_remains(file, chance, eagerness))


def _remains(file: _File, chance: random.Random, eagerness: float) -> bytes:
    """The certain bytes, and of each write that was not synced the sectors that chance lets arrive."""
    content = bytearray(file.content)
    sector = chance.choice(SECTORS)
    for call in file.pending:
        if call.action is DiskAction.TRUNCATE:
            if chance.random() < eagerness:
                _apply(content, call)
            continue
        for part in _split(call, sector):
            fate = chance.random()
            if fate < eagerness:
                _apply(content, part)
            elif fate > 0.95 and part.offset + len(part.data) > len(content):
                _apply(content, part._replace(data=chance.randbytes(len(part.data))))
    return bytes(content)


def _split(call: DiskCall, sector: int) -> Iterable[DiskCall]:
    """The part of a write that goes to each sector."""
    start, end = call.offset, call.offset + len(call.data)
    while start < end:
        stop = min(end, (start // sector + 1) * sector)
        yield call._replace(offset=start, data=call.data[start - call.offset : stop - call.offset])
        start = stop


def _apply(content: bytearray, call: DiskCall) -> None:
    if call.action is DiskAction.TRUNCATE:
        del content[call.offset :]
        content.extend(bytes(call.offset - len(content)))
        return
    if call.offset > len(content):
        content.extend(bytes(call.offset - len(content)))
    content[call.offset : call.offset + len(call.data)] = call.data
