"""Registries to move: opened on any engine, filled with what a registry comes to hold, exported and imported."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal
from uuid import UUID

import msgspec

from vskill_platform.domain.catalog import COLLECTIONS, Document
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.records import Pin
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.engines.blobs import BlobFolder
from vskill_platform.engines.memory import open_memory
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.moving.manifest import Manifest
from vskill_platform.moving.packing import export_registry
from vskill_platform.moving.unpacking import House, import_registry
from vskill_platform.ports.clock import Clock, SystemClock
from vskill_platform.ports.commit import Add, Bury, Emit, Operation, Put, Restore, Retry, Send
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.inventory import KeptEntry
from vskill_platform.testing.submissions import putting_skill, putting_submission, submission_at

Kind = Literal["memory", "sqlite", "postgres"]
START_MS = 1_771_668_000_000


@asynccontextmanager
async def open_house(kind: Kind, folder: Path, *, clock: Clock | None = None, url: str = "") -> AsyncIterator[House]:
    """A registry of its own in a folder, laid out as the command lays it out; on PostgreSQL, the records are at the URL."""
    ticking = clock or SystemClock()
    if kind == "memory":
        engine: Engine = await open_memory(clock=ticking)
    elif kind == "postgres":
        engine = await open_postgres(url, clock=ticking)
    else:
        engine = await open_sqlite(folder / "registry.db", clock=ticking, synchronous="OFF")
    try:
        yield House(engine, BlobFolder(folder / "blobs", clock=ticking), ticking)
    finally:
        await engine.close()


async def export_house(house: House, folder: Path) -> Manifest:
    """Export a registry as of now."""
    now_ms = house.clock.now_ms()
    async with house.engine.inventory() as inventory:
        return await export_registry(inventory, house.blobs, folder=folder, now_ms=now_ms)


async def import_house(house: House, folder: Path) -> Manifest:
    """Import an export."""
    return await import_registry(house, folder=folder)


async def fill_house(house: House, *, submissions: int = 40) -> None:
    """Records of every kind, with what is hard to carry: CJK, bytes that are no text, expiry, every state of a message."""
    writes = house.engine.writes
    tar_digest = await house.blobs.put(b"the pinned archive")
    for first in range(0, submissions, 1000):
        count = min(1000, submissions - first)
        await writes.commit(submission_operations(count, tar_digest=tar_digest, first=first))
    for number in range(5):
        await house.blobs.put(f"blob {number}".encode() * 1000)
    await house.blobs.put(b"")
    await writes.commit(
        [
            *putting_skill("acme/skills/greeting", name="問候", description="有礼貌地打招呼 “ciao”\n\t\x00 é"),
            *putting_skill("größe/skills/übung", category="writing", publisher="ü"),
            Put("skill:alias:acme/old", b"acme/skills/greeting"),
            Put("withdrawn:acme/skills/gone", b'{"slug":"acme/skills/gone"}'),
            Put("block:digest:sha256:00", b"\xff\xfe\x00 no text"),
            Put("empty", b""),
            Put("lease:cron", b"{}", ttl_s=600),
            Add("metric:2026-02-21T10", {"delivered": 7, "名": -1}, ttl_s=3600),
            Restore(KeptEntry("expired", b"still in the table", house.clock.now_ms() - 1, None)),
            Emit("skill.published", "größe/skills/übung", b"\xff"),
            Emit("queue.paused", "", b""),
        ]
    )
    await send_everything(house.engine)


def submission_operations(count: int, *, tar_digest: str, first: int = 0) -> list[Operation]:
    """Submissions in all states, each with its history."""
    states = list(SubmissionState)
    pin = Pin(commit="c" * 40, content_digest="sha256:11", tar_digest=tar_digest)
    operations: list[Operation] = []
    for number in range(first, first + count):
        identity = f"sub_{UUID(int=number).hex}"
        submission = submission_at(
            states[number % len(states)],
            updated_ms=START_MS + number,
            identity=identity,
            skill_name=f"技能 {number}",
            pin=pin,
        )
        operations += [*putting_submission(submission), Put(f"hist:{identity}:00000001", b"{}")]
        operations += [Emit("submission.created", identity, msgspec.json.encode({"n": number}))]
    return operations


async def send_everything(engine: Engine) -> None:
    """Messages that wait, are delayed, leased, to be retried, suspect and dead, in two queues and three priorities."""
    queue, writes = engine.queue, engine.writes
    await writes.commit(
        [Send(SUBMISSIONS_QUEUE, MessageId(id), f"正文 {id}".encode()) for id in ("dead", "retry", "held")]
    )
    dead, retry, _ = await queue.receive(SUBMISSIONS_QUEUE, max_messages=3, lease_s=600)
    await writes.commit([Bury(dead.lease, "無法 fetched"), Retry(retry.lease, "not now", delay_s=7200)])
    await writes.commit(
        [
            Send(SUBMISSIONS_QUEUE, MessageId("waits"), b"{}", priority=-3),
            Send(SUBMISSIONS_QUEUE, MessageId("urgent"), b"\xff\x00", priority=9),
            Send(SUBMISSIONS_QUEUE, MessageId("later"), b"{}", delay_s=3600.5),
            Send("another", MessageId("elsewhere"), b""),
        ]
    )


async def all_documents(engine: Engine) -> list[Document]:
    """Everything in the catalog. Fewer than a page a collection."""
    return [one for collection in COLLECTIONS.values() for one in await engine.catalog.documents(collection)]
