"""A disk that fails at the n-th call, and one run of a fixed workload on it.

The workload says of each of its writes what it was told: acknowledged, refused or unknown. Two things are judged: what is
there after the engine was closed, and what a process would have found that was killed just after the first failure.
"""

from __future__ import annotations

import asyncio
import copy
import shutil
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import apsw

from tests.faults.checker import Deed, Done, Journal, Verdict, Write, judge
from tests.faults.load_child import QUEUE, affecting, writing
from tests.faults.looking import look_at_file
from vskill_platform.domain.errors import CommitUnknown, DiskFull, EngineRefused, StoreUnavailable, VskillError
from vskill_platform.engines.sqlite import SqliteEngine, open_sqlite
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.commit import ABSENT, Ack, Operation
from vskill_platform.ports.queue import Message
from vskill_platform.testing.vfs import DiskAction, DiskCall, DiskHooks, hooked_vfs

T = TypeVar("T")
ANSWER_LIMIT_S = 60.0
ITEMS, WRITES_EACH, TOGETHER = 3, 2, 4
CHECKPOINT_PAGES = 30


class Fault(StrEnum):
    """What the disk says when it fails."""

    FULL = "full"
    READ_ONLY = "read-only"
    EIO = "EIO"


class Lasting(StrEnum):
    """For how long it fails, from the n-th call on."""

    ONCE = "once"
    UNTIL_MENDED = "until mended"
    TO_THE_END = "to the end"


_FAILS = {
    Fault.FULL: {DiskAction.WRITE},
    Fault.READ_ONLY: {DiskAction.WRITE, DiskAction.TRUNCATE, DiskAction.DELETE},
    Fault.EIO: set(DiskAction),
}
_EIO = {
    DiskAction.OPEN: apsw.SQLITE_IOERR_ACCESS,
    DiskAction.WRITE: apsw.SQLITE_IOERR_WRITE,
    DiskAction.SYNC: apsw.SQLITE_IOERR_FSYNC,
    DiskAction.TRUNCATE: apsw.SQLITE_IOERR_TRUNCATE,
    DiskAction.DELETE: apsw.SQLITE_IOERR_DELETE,
}


@dataclass(slots=True)
class FailingDisk(DiskHooks):
    """Counts the calls that this fault could hit, and fails at one of them, or at that one and all that follow."""

    fault: Fault = Fault.EIO
    fails_at: int = 0
    lasting: Lasting = Lasting.ONCE
    actions: list[DiskAction] = field(default_factory=list)

    @property
    def calls(self) -> int:
        """How many calls there have been."""
        return len(self.actions)

    def on_call(self, call: DiskCall) -> None:
        if call.action not in _FAILS[self.fault]:
            return
        self.actions.append(call.action)
        is_hit = self.calls == self.fails_at if self.lasting is Lasting.ONCE else self.calls >= self.fails_at
        if self.fails_at and is_hit:
            raise self._error(call)

    def mend(self) -> None:
        """From now on it works."""
        self.fails_at = 0

    def _error(self, call: DiskCall) -> apsw.Error:
        if self.fault is Fault.FULL:
            return apsw.FullError("planted")
        if self.fault is Fault.READ_ONLY:
            return apsw.ReadOnlyError("planted")
        error = apsw.IOError("planted")
        error.extendedresult = _EIO[call.action]
        return error


@dataclass
class Told:
    """What the workload was told, and the errors that it was told with."""

    journal: Journal = field(default_factory=Journal)
    unknown: set[Deed] = field(default_factory=set)
    errors: list[VskillError] = field(default_factory=list)


@dataclass
class DiskRun:
    """One run of the workload, and what is wrong after it: nothing, where all is well."""

    path: Path
    disk: FailingDisk
    told: Told = field(default_factory=Told)
    faults: list[str] = field(default_factory=list)
    _copies: list[tuple[Path, Told]] = field(default_factory=list)

    async def run(self) -> DiskRun:
        """Open, work, mend where that belongs to the run, write once more, close; then judge what is left."""
        with hooked_vfs(self.disk) as vfs:
            engine = await self._open(vfs)
            if engine is not None:
                await self._work_and_close(engine)
        await self._judge("after closing", self.path, self.told)
        for path, told in self._copies:
            await self._judge("after a kill", path, told)
        return self

    async def _open(self, vfs: str) -> SqliteEngine | None:
        try:
            return await self._open_once(vfs)
        except VskillError as error:
            self._expect(error, StoreUnavailable, EngineRefused)
        if self.disk.lasting is Lasting.TO_THE_END:
            return None
        if self.disk.lasting is Lasting.UNTIL_MENDED:
            self.disk.mend()
        return await self._open_once(vfs)

    async def _open_once(self, vfs: str) -> SqliteEngine:
        return await answer(open_sqlite(self.path, clock=SystemClock(), vfs=vfs, checkpoint_pages=CHECKPOINT_PAGES))

    async def _work_and_close(self, engine: SqliteEngine) -> None:
        try:
            await self._work(engine)
            if self.disk.lasting is Lasting.UNTIL_MENDED:
                self._check_trouble(engine)
                self.disk.mend()
            if self.disk.lasting is not Lasting.TO_THE_END:
                await self._check_goes_on(engine)
        finally:
            await answer(engine.close())

    async def _work(self, engine: SqliteEngine) -> None:
        for item in range(ITEMS):
            await self._write(engine, f"alone-{item}")
            await self._copy_once_failed(engine)
        await asyncio.gather(*(self._write(engine, f"together-{item}") for item in range(TOGETHER)))
        await self._copy_once_failed(engine)
        for message in await self._receive(engine):
            item = message.body.decode()
            await self._commit(engine, Done(item), [affecting(item), Ack(message.lease)])
            await self._copy_once_failed(engine)
        await self._exchange(engine)
        await self._copy_once_failed(engine)

    async def _write(self, engine: SqliteEngine, item: str) -> None:
        version: int | None = ABSENT
        for number in range(1, WRITES_EACH + 1):
            version = await self._commit(engine, Write(item, number), writing(item, number, version))
            if version is None:
                return

    async def _commit(self, engine: SqliteEngine, deed: Deed, operations: Sequence[Operation]) -> int | None:
        """One commit, its answer noted. The version, or None if there is none to go on from."""
        self.told.journal.attempted.add(deed)
        try:
            committed = await answer(engine.writes.commit(operations))
        except (StoreUnavailable, CommitUnknown) as error:
            self._note_refusal(error, [deed])
            return None
        self.told.journal.acknowledged[deed] = committed.version
        return committed.version

    async def _receive(self, engine: SqliteEngine) -> list[Message]:
        try:
            return await answer(engine.queue.receive(QUEUE, max_messages=3, lease_s=60))
        except (StoreUnavailable, CommitUnknown) as error:
            self._note_refusal(error, [])
            return []

    async def _exchange(self, engine: SqliteEngine) -> None:
        held = await self._receive(engine)
        deeds = [Done(message.body.decode()) for message in held]
        self.told.journal.attempted.update(deeds)
        commits = [[affecting(deed.item), Ack(message.lease)] for deed, message in zip(deeds, held, strict=True)]
        try:
            done = await answer(engine.queue.exchange(QUEUE, commits, max_messages=1, lease_s=60))
        except (StoreUnavailable, CommitUnknown) as error:
            self._note_refusal(error, deeds)
            return
        for deed, outcome in zip(deeds, done.outcomes, strict=True):
            if isinstance(outcome, VskillError):
                self._note_refusal(outcome, [deed])
            else:
                self.told.journal.acknowledged[deed] = outcome.version

    def _note_refusal(self, error: VskillError, deeds: Sequence[Deed]) -> None:
        self._expect(error, DiskFull if self.disk.fault is Fault.FULL else StoreUnavailable, CommitUnknown)
        if isinstance(error, CommitUnknown):
            self.told.unknown.update(deeds)

    def _expect(self, error: VskillError, *kinds: type[VskillError]) -> None:
        self.told.errors.append(error)
        if not isinstance(error, kinds):
            self.faults.append(f"an error that does not say what is wrong: {error!r}")

    async def _copy_once_failed(self, engine: SqliteEngine) -> None:
        """Keep what a process finds that is started after this one was killed now: all but the index of the log."""
        if self._copies or not self.told.errors:
            return
        with suppress(VskillError):
            await answer(engine.queue.extend([], lease_s=1))  # when this has been answered, the writer is idle
        target = self.path.parent.with_name(f"{self.path.parent.name}-killed")
        shutil.copytree(self.path.parent, target, ignore=shutil.ignore_patterns("*-shm", "*.lock"))
        self._copies.append((target / self.path.name, copy.deepcopy(self.told)))

    def _check_trouble(self, engine: SqliteEngine) -> None:
        is_failing = bool(self.disk.fails_at) and self.disk.calls >= self.disk.fails_at
        if is_failing and self.told.errors and engine.writes.trouble is None:
            self.faults.append("the engine does not say that it is in trouble")

    async def _check_goes_on(self, engine: SqliteEngine) -> None:
        """Without a restart. The one failure may come only now; what follows it must succeed."""
        await self._write(engine, "after")
        if Write("after", WRITES_EACH) not in self.told.journal.acknowledged and self.disk.lasting is Lasting.ONCE:
            await self._write(engine, "after-all")
        last = {Write("after", WRITES_EACH), Write("after-all", WRITES_EACH)}
        if not last & set(self.told.journal.acknowledged):
            self.faults.append(f"it does not go on: {self.told.errors[-1]!r}")
        elif engine.writes.trouble is not None:
            self.faults.append(f"it is well again and says otherwise: {engine.writes.trouble}")

    async def _judge(self, when: str, path: Path, told: Told) -> None:
        with suppress(FileNotFoundError):
            path.with_name(f"{path.name}-shm").unlink()
        verdict: Verdict = judge(told.journal, await look_at_file(path))
        self.faults += [f"{when}, {name}: {value}" for name, value in verdict.faults.items()]
        refused = verdict.recovered - told.unknown
        if refused:
            self.faults.append(f"{when}, refused and there: {refused}")


async def answer(call: Awaitable[T]) -> T:
    """Await a call that must answer."""
    async with asyncio.timeout(ANSWER_LIMIT_S):
        return await call
