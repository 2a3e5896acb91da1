"""What commits and reads must do, in plain dicts: the words of `ports.kv` and `ports.commit` and nothing of an engine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from vskill_platform.domain.errors import Conflict, InvalidInput, MalformedRecord, VskillError
from vskill_platform.ports.commit import Add, Check, Delete, Emit, Index, Operation, Put, Send, Unindex

COMMITS_KEPT_MS = 24 * 3600 * 1000


@dataclass(frozen=True)
class Cell:
    """What is under one key."""

    value: bytes
    version: int
    expires_ms: float | None = None
    due_ms: int | None = None


@dataclass
class KvModel:
    """The store as it ought to be."""

    cells: dict[str, Cell] = field(default_factory=dict)
    past_versions: dict[str, list[int]] = field(default_factory=dict)
    commits: dict[str, tuple[int, int]] = field(default_factory=dict)
    events: list[tuple[str, str, bytes]] = field(default_factory=list)
    documents: dict[str, str] = field(default_factory=dict)
    messages: set[str] = field(default_factory=set)
    last_version: int = 0

    def live(self, now_ms: int) -> dict[str, Cell]:
        """What has not expired, in the order of the keys' bytes."""
        alive = (key for key, cell in self.cells.items() if cell.expires_ms is None or cell.expires_ms > now_ms)
        return {key: self.cells[key] for key in sorted(alive, key=str.encode)}

    def version_of(self, key: str, now_ms: int) -> int:
        """The version under a key, 0 where there is nothing."""
        cell = self.live(now_ms).get(key)
        return 0 if cell is None else cell.version

    def due(self, now_ms: int, *, prefix: str, before_ms: int) -> list[tuple[int, str]]:
        """What is due, oldest first."""
        cells = self.live(now_ms).items()
        found = [(c.due_ms, key) for key, c in cells if key.startswith(prefix) and c.due_ms is not None]
        return sorted(
            ((due, key) for due, key in found if due <= before_ms), key=lambda item: (item[0], item[1].encode())
        )

    def refusals(self, operations: Sequence[Operation], now_ms: int) -> set[type[VskillError]]:
        """The errors that a commit may raise; none if it must succeed. Which of several comes first is the engine's."""
        if _writes_twice(operations):
            return {InvalidInput}
        refusals: set[type[VskillError]] = set()
        sent: set[str] = set()
        for operation in operations:
            match operation:
                case (
                    Put(key=key, if_version=wanted)
                    | Delete(key=key, if_version=wanted)
                    | Check(key=key, if_version=wanted)
                ):
                    if wanted is not None and wanted != self.version_of(key, now_ms):
                        refusals.add(Conflict)
                case Add(key=key):
                    cell = self.live(now_ms).get(key)
                    if cell is not None and counter(cell.value) is None:
                        refusals.add(MalformedRecord)
                case Send(id=id):
                    if id in self.messages or id in sent:
                        refusals.add(Conflict)
                    sent.add(id)
        return refusals

    def apply(self, operations: Sequence[Operation], *, version: int, now_ms: int) -> None:
        """Write what a commit that succeeded wrote."""
        alive = self.live(now_ms)
        self.last_version = version
        for operation in operations:
            match operation:
                case Put(key=key, value=value, ttl_s=ttl_s, due_ms=due_ms):
                    self._write(key, Cell(value, version, _moment(now_ms, ttl_s), due_ms))
                case Delete(key=key):
                    self.cells.pop(key, None)
                case Add(key=key, amounts=amounts, ttl_s=ttl_s):
                    sums = (counter(alive[key].value) or {}) if key in alive else {}
                    for name, amount in amounts.items():
                        sums[name] = sums.get(name, 0) + amount
                    self._write(key, Cell(json.dumps(sums).encode(), version, _moment(now_ms, ttl_s)))
                case Send(id=id):
                    self.messages.add(id)
                case Emit(kind=kind, subject=subject, data=data):
                    self.events.append((kind, subject, data))
                case Index(document=document):
                    self.documents[document.id] = document.facets["state"]
                case Unindex(id=id):
                    self.documents.pop(id, None)

    def purge(self, now_ms: int) -> int:
        """Forget what has expired; how many that were."""
        alive = self.live(now_ms)
        kept = {id: known for id, known in self.commits.items() if known[1] >= now_ms - COMMITS_KEPT_MS}
        gone = len(self.cells) - len(alive) + len(self.commits) - len(kept)
        self.cells, self.commits = dict(alive), kept
        return gone

    def _write(self, key: str, cell: Cell) -> None:
        self.cells[key] = cell
        self.past_versions.setdefault(key, []).append(cell.version)


def counter(value: bytes) -> dict[str, int] | None:
    """The counter in a value, None if it is none."""
    try:
        found = json.loads(value)
    except ValueError:
        return None
    return found if isinstance(found, dict) and all(type(n) is int for n in found.values()) else None


def same_value(one: bytes, other: bytes) -> bool:
    """Whether two values are equal, whatever the spaces in a counter."""
    return one == other or (counter(one) is not None and counter(one) == counter(other))


def _writes_twice(operations: Sequence[Operation]) -> bool:
    keys = [operation.key for operation in operations if isinstance(operation, Put | Delete | Add)]
    return len(keys) != len(set(keys))


def _moment(now_ms: int, ttl_s: float | None) -> float | None:
    return None if ttl_s is None else now_ms + ttl_s * 1000
