"""What the seed tests plant: records of every kind, good and bad, and probes that misbehave in one named way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import msgspec

from vskill_platform.domain.ids import skill_key, submission_key
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.recovery import STUCK_THRESHOLD_MS
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.engines.memory import open_memory
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.clock import Clock
from vskill_platform.ports.commit import Delete, Operation, Put
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.kv import MAX_PAGE_KEYS, Entry, Page
from vskill_platform.ports.queue import MessageBatch
from vskill_platform.testing.clock import START_MS, run_ready_tasks
from vskill_platform.testing.probe import PlainProbe
from vskill_platform.testing.submissions import putting_skill, putting_submission, submission_at, submit
from vskill_platform.worker_context import run_with_worker_env

T = TypeVar("T")
OpenEngine = Callable[[], Awaitable[Engine]]
LIMIT_S = 10.0

_STUCK = {
    "id": "sub_bad",
    "state": "RECEIVED",
    "repoUrl": "https://github.com/acme/skills",
    "skillName": "demo",
    "createdAt": "2026-02-21T09:00:00.000Z",
    "updatedAt": "2026-02-21T09:00:00.000Z",
}


def _changed(**fields: object) -> bytes:
    return msgspec.json.encode({**_STUCK, **fields})


MALFORMED_SUBMISSIONS: dict[str, bytes] = {
    "empty": b"",
    "cut off": _changed()[:-10],
    "not an object": b"[1, 2]",
    "null": b"null",
    "not text": b'{"id": "\xff"}',
    "state of a wrong type": _changed(state=7),
    "unknown state": _changed(state="WAITING"),
    "updatedAt of a wrong type": _changed(updatedAt=START_MS),
    "updatedAt that is no time": _changed(updatedAt="yesterday"),
    "empty updatedAt": _changed(updatedAt=""),
    "no updatedAt": msgspec.json.encode({name: value for name, value in _STUCK.items() if name != "updatedAt"}),
}
"""Values under `sub:` that are no submissions. Those that are objects would be stuck but for their one fault."""

MALFORMED_SKILLS: dict[str, bytes] = {
    "empty": b"",
    "cut off": b'{"name": "pdf", "repo',
    "not an object": b'"pdf"',
    "null": b"null",
    "not text": b'{"name": "\xff"}',
    "name of a wrong type": b'{"name": 7}',
    "score of a wrong type": b'{"name": "pdf", "score": "high"}',
}
"""Values under `skill:` that are no skills."""


async def open_kind(kind: str, folder: Path, *, clock: Clock) -> Engine:
    """An engine by its name, with a folder of its own. Nothing here asks what survives a power cut, so SQLite need not sync."""
    if kind == "memory":
        return await open_memory(clock=clock)
    folder.mkdir(parents=True)
    return await open_sqlite(folder / "registry.db", clock=clock, synchronous="NORMAL")


async def store_stuck(engine: Engine, ids: Iterable[str]) -> None:
    """Submissions that have been stuck for exactly the threshold at the clock's start."""
    updated_ms = START_MS - STUCK_THRESHOLD_MS
    for identity in ids:
        submission = submission_at(SubmissionState.RECEIVED, updated_ms=updated_ms, identity=identity)
        await engine.writes.commit(putting_submission(submission))


async def store_skills(engine: Engine, slugs: Iterable[str]) -> None:
    """Published skills."""
    operations: list[Operation] = [operation for slug in slugs for operation in putting_skill(slug)]
    await engine.writes.commit(operations)


async def store_raw_submissions(engine: Engine, values: Mapping[str, bytes]) -> None:
    """Raw values under `sub:`, due now, so that the due index leads to them too."""
    await engine.writes.commit([Put(submission_key(name), value, due_ms=START_MS) for name, value in values.items()])


async def store_raw_skills(engine: Engine, values: Mapping[str, bytes]) -> None:
    """Raw values under `skill:`."""
    await engine.writes.commit([Put(skill_key(slug), value) for slug, value in values.items()])


async def submit_each(env: WorkerEnv, names: Iterable[str]) -> None:
    """Submit skills by name, each with its message."""

    async def submit_all() -> None:
        for name in names:
            await submit(name)

    await run_with_worker_env(env, submit_all)


async def pull(env: WorkerEnv, count: int) -> MessageBatch:
    """That many messages, as one batch."""
    messages = await env.queue.receive(SUBMISSIONS_QUEUE, max_messages=count, lease_s=60)
    assert len(messages) == count
    return MessageBatch(SUBMISSIONS_QUEUE, messages)


async def deliver(env: WorkerEnv, names: Sequence[str]) -> MessageBatch:
    """Submit skills by name and pull their messages as one batch."""
    await submit_each(env, names)
    return await pull(env, len(names))


async def meet(barrier: asyncio.Barrier) -> None:
    """Wait for the others, but not for ever."""
    async with asyncio.timeout(LIMIT_S):
        await barrier.wait()


async def wait_for(event: asyncio.Event) -> None:
    """Wait for an event, but not for ever."""
    async with asyncio.timeout(LIMIT_S):
        await event.wait()


class GatedProbe(PlainProbe):
    """A plain KV that holds every get until the test opens the gate, and tells when so many are waiting."""

    def __init__(self, engine: Engine, *, expected: int) -> None:
        super().__init__(engine)
        self._expected = expected
        self.waiting = 0
        self.expected_are_in = asyncio.Event()
        self.gate = asyncio.Event()

    async def get(self, key: str) -> Entry | None:
        self.waiting += 1
        if self.waiting >= self._expected:
            self.expected_are_in.set()
        await wait_for(self.gate)
        self.waiting -= 1
        return await super().get(key)


async def count_in_flight(env: WorkerEnv, probe: GatedProbe, question: Callable[[], Awaitable[Sequence[T]]]) -> int:
    """How many gets a question has open when it has been given every chance to open more. It is then let go to its end."""
    asking = asyncio.create_task(run_with_worker_env(env, question))
    try:
        await wait_for(probe.expected_are_in)
        await run_ready_tasks()
        return probe.waiting
    finally:
        probe.gate.set()
        await asking


class VanishingProbe(PlainProbe):
    """A plain KV in which keys that were just listed are deleted before anyone can get them."""

    def __init__(self, engine: Engine, *, vanishing: Sequence[str]) -> None:
        super().__init__(engine)
        self._engine = engine
        self._vanishing = vanishing

    async def list(self, prefix: str, *, cursor: str | None = None, limit: int = MAX_PAGE_KEYS) -> Page:
        page = await super().list(prefix, cursor=cursor, limit=limit)
        await self._engine.writes.commit([Delete(key) for key in self._vanishing])
        return page


class BackwardsProbe(PlainProbe):
    """A plain KV that takes all gets in and answers them last key first."""

    def __init__(self, engine: Engine, *, keys: Sequence[str]) -> None:
        super().__init__(engine, hold_until=len(keys))
        self._answered = {key: asyncio.Event() for key in keys}
        self._before = dict(pairwise(keys))
        self.answers: list[str] = []

    async def get(self, key: str) -> Entry | None:
        entry = await super().get(key)
        if key in self._before:
            await wait_for(self._answered[self._before[key]])
        self.answers.append(key)
        self._answered[key].set()
        return entry


class UnlistableProbe(PlainProbe):
    """A plain KV whose listing fails after the first page."""

    async def list(self, prefix: str, *, cursor: str | None = None, limit: int = MAX_PAGE_KEYS) -> Page:
        if cursor is not None:
            raise ConnectionError("planted failure of the listing")
        return await super().list(prefix, cursor=cursor, limit=limit)
