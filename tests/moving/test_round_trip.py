"""What comes out of a registry goes into another, and comes out of that one again, the same."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import msgspec
import pytest

from tests.moving.houses import (
    Kind,
    all_documents,
    export_house,
    fill_house,
    import_house,
    open_house,
    submission_operations,
)
from vskill_platform.domain.catalog import SKILLS
from vskill_platform.domain.errors import ImportUnfinished, RegistryNotEmpty
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.moving.packing import IMPORT_KEY
from vskill_platform.moving.unpacking import refuse_unfinished
from vskill_platform.ports.catalog import CatalogQuery
from vskill_platform.ports.commit import Delete, Emit, Put, Send
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.inventory_contract import list_everything

DIRECTIONS: list[tuple[Kind, Kind]] = [("sqlite", "memory"), ("memory", "sqlite"), ("sqlite", "sqlite")]
MEBIBYTE = 1024 * 1024


@pytest.mark.parametrize(("source", "target"), DIRECTIONS)
async def test_round_trip_gives_identical_digests__and_the_same_catalog(
    source: Kind, target: Kind, tmp_path: Path
) -> None:
    async with open_house(source, tmp_path / "old") as old, open_house(target, tmp_path / "new") as new:
        await fill_house(old)
        first = await export_house(old, tmp_path / "first")
        assert await import_house(new, tmp_path / "first") == first
        second = await export_house(new, tmp_path / "second")
        assert second.parts == first.parts
        assert second.content == first.content
        assert await all_documents(new.engine) == await all_documents(old.engine)
        found = await new.engine.catalog.query(CatalogQuery(SKILLS, search="打招呼"))
        assert [id for id, _ in found.rows] == ["acme/skills/greeting"]


async def test_export_counts_what_is_in_it__and_leaves_behind_what_belongs_to_processes(tmp_path: Path) -> None:
    async with open_house("sqlite", tmp_path / "old") as old:
        await fill_house(old, submissions=3)
        manifest = await export_house(old, tmp_path / "export")
    counts = {part.name: part.count for part in manifest.parts}
    assert counts == {"records.jsonl": 13, "messages.jsonl": 7, "events.jsonl": 5, "blobs.tar": 7}
    assert manifest.part("records.jsonl").kinds["sub"] == 3
    assert manifest.part("messages.jsonl").kinds == {"dead": 1, "delayed": 2, "waiting": 4}
    lines = (tmp_path / "export" / "records.jsonl").read_text().splitlines()
    keys = [msgspec.json.decode(line)["key"] for line in lines]
    assert keys == sorted(keys, key=str.encode)
    assert not {"lease:cron", "expired", IMPORT_KEY} & set(keys)


async def test_leased_message_comes_over_as_ready__with_its_attempts_and_without_its_lease(tmp_path: Path) -> None:
    async with open_house("sqlite", tmp_path / "old") as old, open_house("memory", tmp_path / "new") as new:
        await fill_house(old)
        await export_house(old, tmp_path / "export")
        await import_house(new, tmp_path / "export")
        before = (await old.engine.queue.find([MessageId("held")]))[MessageId("held")]
        after = (await new.engine.queue.find([MessageId("held")]))[MessageId("held")]
        assert (before.status, after.status) == (MessageStatus.LEASED, MessageStatus.WAITING)
        assert (before.attempts, after.attempts, after.is_suspect) == (1, 1, False)
        pulled = await new.engine.queue.receive(SUBMISSIONS_QUEUE, max_messages=9, lease_s=1)
        assert [(message.id, message.attempts) for message in pulled] == [("urgent", 1), ("held", 2), ("waits", 1)]


async def test_time_that_passes_between_export_and_import_is_no_difference(tmp_path: Path) -> None:
    clock = FakeClock()
    async with (
        open_house("memory", tmp_path / "old", clock=clock) as old,
        open_house("sqlite", tmp_path / "new", clock=clock) as new,
    ):
        await fill_house(old)
        await export_house(old, tmp_path / "export")
        await clock.advance(3601)
        await import_house(new, tmp_path / "export")
        assert await new.engine.kv.get("metric:2026-02-21T10") is None
        assert (await new.engine.queue.stats(SUBMISSIONS_QUEUE)).waiting == 4


async def test_registry_that_moved_works_on__with_versions_and_sequences_of_its_own(tmp_path: Path) -> None:
    async with open_house("memory", tmp_path / "old") as old, open_house("sqlite", tmp_path / "new") as new:
        await fill_house(old)
        await export_house(old, tmp_path / "export")
        await import_house(new, tmp_path / "export")
        last = await old.engine.events.last_sequence()
        assert await new.engine.events.last_sequence() == last
        entry = await new.engine.kv.get("skill:alias:acme/old")
        assert entry is not None
        change = Put("skill:alias:acme/old", b"changed", if_version=entry.version)
        await new.engine.writes.commit([change, Emit("k", "s", b""), Send("another", MessageId("new"), b"")])
        (event,) = (await new.engine.events.read(last)).events
        assert event.sequence > last


@pytest.mark.parametrize("occupant", ["key", "message", "event", "blob"])
async def test_import_refuses_a_registry_that_is_not_empty__and_changes_nothing(occupant: str, tmp_path: Path) -> None:
    async with open_house("sqlite", tmp_path / "old") as old, open_house("sqlite", tmp_path / "new") as new:
        await fill_house(old, submissions=1)
        await export_house(old, tmp_path / "export")
        match occupant:
            case "key":
                await new.engine.writes.commit([Put("a", b"")])
            case "message":
                await new.engine.writes.commit([Send("q", MessageId("m"), b"")])
            case "event":
                await new.engine.writes.commit([Emit("k", "s", b"")])
            case _:
                await new.blobs.put(b"x")
        before = await list_everything(new.engine)
        with pytest.raises(RegistryNotEmpty):
            await import_house(new, tmp_path / "export")
        assert await list_everything(new.engine) == before


async def test_import_twice_is_refused__because_the_registry_is_full_then(tmp_path: Path) -> None:
    async with open_house("memory", tmp_path / "old") as old, open_house("sqlite", tmp_path / "new") as new:
        await fill_house(old, submissions=1)
        await export_house(old, tmp_path / "export")
        await import_house(new, tmp_path / "export")
        with pytest.raises(RegistryNotEmpty):
            await import_house(new, tmp_path / "export")


async def test_unfinished_import_refuses_another_export_and_being_exported(tmp_path: Path) -> None:
    async with open_house("memory", tmp_path / "old") as old, open_house("sqlite", tmp_path / "new") as new:
        await fill_house(old, submissions=1)
        await export_house(old, tmp_path / "one")
        await old.engine.writes.commit([Delete("empty")])
        await export_house(old, tmp_path / "two")
        await new.engine.writes.commit([Put(IMPORT_KEY, b'{"v":1,"export":"of something else"}')])
        for call in (
            lambda: import_house(new, tmp_path / "two"),
            lambda: export_house(new, tmp_path / "three"),
            lambda: refuse_unfinished(new.engine.kv),
        ):
            with pytest.raises(ImportUnfinished):
                await call()


async def test_memory_stays_bounded__when_a_registry_is_much_larger(tmp_path: Path) -> None:
    """10,000 records of 5 kB each are 50 MB; a chunk of them is 4 MB."""
    async with open_house("sqlite", tmp_path / "old") as old, open_house("sqlite", tmp_path / "new") as new:
        for start in range(0, 10_000, 500):
            puts = [Put(f"bulk:{number:05d}", f"{number:05d}".encode() * 1000) for number in range(start, start + 500)]
            await old.engine.writes.commit(puts)
        await old.engine.writes.commit(submission_operations(500, tar_digest="sha256:00"))
        tracemalloc.start()
        try:
            manifest = await export_house(old, tmp_path / "export")
            await import_house(new, tmp_path / "export")
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert manifest.part("records.jsonl").bytes > 47 * MEBIBYTE
        assert manifest.part("records.jsonl").count == 11_000
        assert peak < 20 * MEBIBYTE
        again = await export_house(new, tmp_path / "again")
        assert again.content == manifest.content
