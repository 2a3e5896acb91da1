"""The machine for the key-value store and its commits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, cast

from hypothesis.stateful import invariant, rule

from tests.machines.kv_model import KvModel, same_value
from tests.machines.kv_steps import (
    COMMIT_IDS,
    CURRENT,
    KEYS,
    QUEUE,
    STALE,
    STEPS,
    STEPS_ON_DISK,
    CommitSome,
    ListSome,
    ListSomeDue,
    PassTime,
    Reopen,
    Step,
)
from tests.machines.stage import Disagreement, Machine, Plant, PostgresStage, SqliteStage, agree, leave_alone
from vskill_platform.domain.catalog import SUBMISSIONS
from vskill_platform.domain.errors import InvalidKey, VskillError
from vskill_platform.domain.ids import CommitId
from vskill_platform.ports.commit import Check, Committed, Delete, Operation, Put
from vskill_platform.ports.kv import KV, BulkGet, DueIndex, Scan

SCANS = (("", None), ("a", "a:"), ("", "a:"), ("b:", "c"), ("a:", "a"), ("", "a:\uffff"))
COMPARE_EVERY = 6


class FullKV(KV, BulkGet, Scan, DueIndex, Protocol):
    """A KV with every capability, as both engines have it."""


@dataclass
class Walk:
    """A listing that is followed page by page while the store changes under it.

    What is there from the first page to the last must come exactly once; what was never there, never.
    """

    prefix: str
    steady: set[object]
    possible: set[object]
    horizon_ms: int = 0
    cursor: str | None = None
    seen: list[object] = field(default_factory=list)

    def note(self, present: set[object]) -> None:
        """The store has changed: these are there now."""
        self.steady &= present
        self.possible |= present

    def follow(self, items: Sequence[object], cursor: str | None, *, limit: int, is_complete: bool) -> Walk | None:
        """A page came. The walk goes on, unless the listing says that it is complete."""
        if len(items) > limit:
            raise Disagreement(f"a page of {limit} has {len(items)} items")
        self.seen.extend(items)
        self.cursor = cursor
        agree("items that come twice", len(set(self.seen)), len(self.seen))
        agree("items that never were", set(self.seen) - self.possible, set())
        if not is_complete:
            return self
        agree("items that were left out", self.steady - set(self.seen), set())
        return None


class KvMachine(Machine):
    """Random commits, reads and time against a `KvModel`."""

    def __init__(self, plant: Plant = leave_alone) -> None:
        super().__init__(max_attempts=4, plant=plant)
        self.model = KvModel()
        self.keys_walk: Walk | None = None
        self.due_walk: Walk | None = None

    @property
    def kv(self) -> FullKV:
        return cast(FullKV, self.stage.engine.kv)

    def play(self, step: Step) -> None:
        match step:
            case CommitSome(drafts, id):
                self._commit(drafts, id)
            case PassTime(seconds, purges):
                self._pass_time(seconds, purges)
            case ListSome(prefix, limit):
                self._list_some(prefix, limit)
            case ListSomeDue(prefix, limit, ahead_s):
                self._list_some_due(prefix, limit, ahead_s)
            case Reopen():
                self.stage.reopen()

    @invariant()
    def agrees(self) -> None:
        """Everything, but only now and then: a commit compares what it touches."""
        turn, rest = divmod(self.steps, COMPARE_EVERY)
        if rest == 0:
            self.stage.run(self._compare_other_ports() if turn % 2 else self._compare_bulk_reads(turn // 2))

    def _commit(self, drafts: Sequence[Operation], id: CommitId | None) -> None:
        operations = [self._resolve(draft) for draft in drafts]
        refusals = self.model.refusals(operations, self.now_ms)
        outcome = self._try_commit(operations, id)
        known = None if id is None else self.model.commits.get(id)
        if isinstance(outcome, VskillError):
            agree(f"{outcome!r} is expected", type(outcome) in refusals, True)
        elif known is not None:
            agree("the version of a commit that is known", outcome.version, known[0])
        else:
            agree("refusals of a commit that succeeded", refusals, set())
            self._note_commit(operations, outcome, id)
        self._compare_keys({getattr(operation, "key", "a") for operation in operations})

    def _pass_time(self, seconds: float, purges: bool) -> None:
        self.stage.clock.shift(seconds)
        self._note_walks()
        if purges:
            agree("purged", self.stage.run(self.stage.engine.writes.purge()), self.model.purge(self.now_ms))

    def _list_some(self, prefix: str, limit: int) -> None:
        present = self._present(prefix)
        walk = self.keys_walk or Walk(prefix, set(present), set(present))
        page = self.stage.run(self.kv.list(walk.prefix, cursor=walk.cursor, limit=limit))
        agree("order of keys", page.keys, sorted(page.keys, key=str.encode))
        self.keys_walk = walk.follow(page.keys, page.cursor, limit=limit, is_complete=page.complete)

    def _list_some_due(self, prefix: str, limit: int, ahead_s: int | None) -> None:
        dues = [cell.due_ms for cell in self.model.live(self.now_ms).values() if cell.due_ms is not None]
        horizon_ms = max(dues, default=0) if ahead_s is None else self.now_ms + ahead_s * 1000
        present = self._present_due(prefix, horizon_ms)
        walk = self.due_walk or Walk(prefix, set(present), set(present), horizon_ms)
        page = self.stage.run(self.kv.list_due(walk.prefix, before_ms=walk.horizon_ms, cursor=walk.cursor, limit=limit))
        items = [(due.due_ms, due.key) for due in page.entries]
        agree("order of due entries", items, sorted(items, key=lambda item: (item[0], item[1].encode())))
        versions = [due.entry.version for due in page.entries]
        agree("versions of due entries", versions, [self._version(due.key) for due in page.entries])
        self.due_walk = walk.follow(items, page.cursor, limit=limit, is_complete=page.complete)

    def _resolve(self, draft: Operation) -> Operation:
        """The draft with a real version in place of the word for one."""
        match draft:
            case Put(key=key) | Delete(key=key) | Check(key=key) if draft.if_version == CURRENT:
                return replace(draft, if_version=self._version(key))
            case Put(key=key) | Delete(key=key) | Check(key=key) if draft.if_version == STALE:
                older = [v for v in self.model.past_versions.get(key, []) if v != self._version(key)]
                return replace(draft, if_version=older[-1] if older else self.model.last_version + 7)
            case _:
                return draft

    def _version(self, key: str) -> int:
        return self.model.version_of(key, self.now_ms)

    def _try_commit(self, operations: Sequence[Operation], id: CommitId | None) -> Committed | VskillError:
        try:
            return self.stage.run(self.stage.engine.writes.commit(operations, id=id))
        except VskillError as error:
            return error

    def _note_commit(self, operations: Sequence[Operation], committed: Committed, id: CommitId | None) -> None:
        if committed.version <= self.model.last_version:
            raise Disagreement(f"version {committed.version} after {self.model.last_version}")
        self.model.apply(operations, version=committed.version, now_ms=self.now_ms)
        if id is not None:
            self.model.commits[id] = (committed.version, self.now_ms)
        self._note_walks()

    def _note_walks(self) -> None:
        if self.keys_walk is not None:
            self.keys_walk.note(self._present(self.keys_walk.prefix))
        if self.due_walk is not None:
            self.due_walk.note(self._present_due(self.due_walk.prefix, self.due_walk.horizon_ms))

    def _present(self, prefix: str) -> set[object]:
        return {key for key in self.model.live(self.now_ms) if key.startswith(prefix)}

    def _present_due(self, prefix: str, horizon_ms: int) -> set[object]:
        return set(self.model.due(self.now_ms, prefix=prefix, before_ms=horizon_ms))

    def _compare_keys(self, keys: set[str]) -> None:
        live = self.model.live(self.now_ms)
        for key in sorted(keys):
            entry = self.stage.run(self.kv.get(key))
            cell = live.get(key)
            agree(f"version of {key!r}", entry and entry.version, cell and cell.version)
            if entry and cell and not same_value(entry.value, cell.value):
                raise Disagreement(f"value of {key!r}: got {entry.value!r}, expected {cell.value!r}")

    async def _compare_bulk_reads(self, turn: int) -> None:
        live = self.model.live(self.now_ms)
        *entries, refused = await self.kv.get_many([*KEYS, "a", ""])
        versions = [entry and getattr(entry, "version", entry) for entry in entries]
        agree("get_many", versions, [live[key].version if key in live else None for key in (*KEYS, "a")])
        agree("get_many of what is no key", type(refused), InvalidKey)
        prefix, exclude = SCANS[turn % len(SCANS)]
        rows = [row async for chunk in self.kv.scan(prefix, exclude=exclude) for row in chunk]
        expected = [k for k in live if k.startswith(prefix) and not (exclude and k.startswith(exclude))]
        agree("keys of a scan", [key for key, _ in rows], expected)
        agree("values of a scan", [key for key, value in rows if not same_value(value, live[key].value)], [])

    async def _compare_other_ports(self) -> None:
        """Commit ids, the event log, the catalog and the queue: a commit shows in all of them or in none."""
        engine = self.stage.engine
        found = [await engine.writes.find_commit(id) for id in COMMIT_IDS]
        versions = {id: commit.version for id, commit in zip(COMMIT_IDS, found, strict=True) if commit is not None}
        agree("commit ids", versions, {id: version for id, (version, _) in self.model.commits.items()})
        page = await engine.events.read(0)
        agree("events", [event[2:] for event in page.events], self.model.events)
        sequences = [event.sequence for event in page.events]
        agree("order of events", sequences, sorted(set(sequences)))
        states = list(self.model.documents.values())
        agree("catalog", await engine.catalog.counts(SUBMISSIONS, "state"), {s: states.count(s) for s in states})
        agree("messages", (await engine.queue.stats(QUEUE)).waiting, len(self.model.messages))


class KvOnMemory(KvMachine):
    """On the memory engine."""

    @rule(step=STEPS)
    def take(self, step: Step) -> None:
        self.take_step(step)


class KvOnSqlite(KvMachine):
    """On a file, which can be closed and opened again."""

    stage_type = SqliteStage

    @rule(step=STEPS_ON_DISK)
    def take(self, step: Step) -> None:
        self.take_step(step)


class KvOnPostgres(KvMachine):
    """On a database server."""

    stage_type = PostgresStage

    @rule(step=STEPS_ON_DISK)
    def take(self, step: Step) -> None:
        self.take_step(step)
