"""Points of the pipeline at which a process can be made to die: before a call of a port, in the middle of it, or after it."""

from __future__ import annotations

import asyncio
import inspect
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import msgspec

from vskill_platform.domain.catalog import SUBMISSIONS
from vskill_platform.ports.commit import Index
from vskill_platform.ports.env import WorkerEnv

Die = Callable[[str], None]
LATEST_MS = 4.0
"""A death in the middle of a call comes this long after its beginning at most: as long as most calls take."""


class When(StrEnum):
    """Where about a call."""

    BEFORE = "before"
    DURING = "during"
    AFTER = "after"


POINTS = (
    "queue.exchange",
    "kv.get",
    "writes.commit TIER1_SCANNING",
    "source.fetch",
    "blobs.put",
    "writes.commit EXPANDED",
    "blobs.get",
    "scanner.scan",
    "writes.commit PUBLISHED",
)
"""The steps of a submission's journey as its ports see them: pulled, read, claimed, fetched, kept, expanded, read back, scanned,
archived (`blobs.put` again), published; and settled, with the next pull."""


class Doom(msgspec.Struct, frozen=True):
    """At the so-manieth call of a point."""

    point: str
    when: When
    count: int = 1


@dataclass
class _Fate:
    doom: Doom
    die: Die
    left: int

    def strikes(self, point: str) -> bool:
        """Whether this is the call."""
        if point != self.doom.point:
            return False
        self.left -= 1
        return self.left == 0

    def meet(self, when: When) -> None:
        """Die if it is to happen here."""
        if self.doom.when is not when:
            return
        name = f"{self.doom.point.replace(' ', ':')}:{when}"
        if when is When.DURING:
            asyncio.get_running_loop().call_later(random.uniform(0, LATEST_MS) / 1000, self.die, name)
        else:
            self.die(name)


class _Wired:
    """A port whose calls are counted."""

    def __init__(self, port: object, name: str, fate: _Fate) -> None:
        self._port, self._name, self._fate = port, name, fate

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        point = f"{self._name}.{name}"
        if point == "source.fetch":
            return lambda *a, **k: self._enter(found(*a, **k), point)
        return self._call(found, point) if inspect.iscoroutinefunction(found) else found

    def _call(self, method: Any, point: str) -> Any:
        async def call(*arguments: Any, **options: Any) -> Any:
            named = f"{point} {_state(arguments[0])}" if point == "writes.commit" else point
            if not self._fate.strikes(named):
                return await method(*arguments, **options)
            self._fate.meet(When.BEFORE)
            self._fate.meet(When.DURING)
            answer = await method(*arguments, **options)
            self._fate.meet(When.AFTER)
            return answer

        return call

    @asynccontextmanager
    async def _enter(self, context: AbstractAsyncContextManager[Any], point: str) -> AsyncIterator[Any]:
        strikes = self._fate.strikes(point)
        if strikes:
            self._fate.meet(When.BEFORE)
            self._fate.meet(When.DURING)
        async with context as entered:
            if strikes:
                self._fate.meet(When.AFTER)
            yield entered


def _state(operations: Any) -> str:
    """Where a commit leaves the submission that it is about: the first that it indexes last."""
    states = {
        operation.document.id: operation.document.facets["state"]
        for operation in operations
        if isinstance(operation, Index) and operation.document.collection is SUBMISSIONS
    }
    return next(iter(states.values()), "-")


def doomed_env(env: WorkerEnv, doom: Doom, *, die: Die) -> WorkerEnv:
    """The env with wires at every port."""
    fate = _Fate(doom, die, doom.count)
    names = ("kv", "writes", "queue", "blobs", "source", "scanner")
    wired: dict[str, Any] = {name: _Wired(getattr(env, name), name, fate) for name in names}
    return replace(env, **wired)
