"""A backup that was taken while the registry writes is of one moment, and a registry starts from it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import apsw
import pytest

from tests.acceptance.commands import registry, run
from tests.moving.houses import fill_house, open_house
from vskill_platform.app import back_up_to
from vskill_platform.domain.errors import BackupDamaged, BlobCorrupt, FolderTaken
from vskill_platform.domain.ids import Digest
from vskill_platform.domain.records import Pin
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.engines.blobs import BlobFolder
from vskill_platform.moving.progress import untold
from vskill_platform.moving.unpacking import House
from vskill_platform.ports.commit import Add, Emit, Put
from vskill_platform.settings import Settings
from vskill_platform.testing.submissions import putting_submission, submission_at

WRITERS = 4
BULK = 3000


class Load:
    """Writers that commit a numbered submission each time, with a blob that it names, a counter and an event."""

    def __init__(self, house: House) -> None:
        self.acknowledged: set[str] = set()
        self._house = house
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Write until stopped."""
        async with asyncio.TaskGroup() as group:
            for writer in range(WRITERS):
                group.create_task(self._write(writer))

    def stop(self) -> None:
        """Let each writer end the commit it is at."""
        self._stopping.set()

    async def _write(self, writer: int) -> None:
        number = 0
        while not self._stopping.is_set():
            identity = f"sub_{writer}_{number:06d}"
            digest = await self._house.blobs.put(identity.encode())
            pin = Pin(commit="c" * 40, content_digest="sha256:11", tar_digest=digest)
            submission = submission_at(SubmissionState.RECEIVED, updated_ms=1, identity=identity, pin=pin)
            operations = [*putting_submission(submission), Add(f"count:{writer}", {"n": 1}), Emit("k", identity, b"")]
            await self._house.engine.writes.commit(operations)
            self.acknowledged.add(identity)
            number += 1


async def look(folder: Path) -> tuple[set[str], dict[int, int], set[str]]:
    """The submissions, the counters and the events of a restored registry; every blob that is named must be readable."""
    async with open_house("sqlite", folder) as house:
        seen: set[str] = set()
        async for chunk in house.engine.kv.scan("sub:sub_"):
            for key, value in chunk:
                seen.add(key.removeprefix("sub:"))
                digest = Digest(json.loads(value)["pin"]["tarDigest"])
                assert await house.blobs.get(digest) == key.removeprefix("sub:").encode()
        counters: dict[int, int] = {}
        for writer in range(WRITERS):
            entry = await house.engine.kv.get(f"count:{writer}")
            counters[writer] = 0 if entry is None else json.loads(entry.value)["n"]
        async with house.engine.inventory() as inventory:
            events = {event.subject async for chunk in inventory.events() for event in chunk}
    return seen, counters, events


@pytest.mark.parametrize("backups", [1, pytest.param(3, marks=pytest.mark.full)])
async def test_backup_under_load_loses_nothing_acknowledged_before_it__and_is_of_one_moment(
    tmp_path: Path, backups: int
) -> None:
    async with open_house("sqlite", tmp_path / "data") as house:
        # Enough pages that the copy takes many steps, with commits between them.
        for start in range(0, BULK, 500):
            await house.engine.writes.commit([Put(f"bulk:{n}", bytes(8000)) for n in range(start, start + 500)])
        load = Load(house)
        async with asyncio.TaskGroup() as group:
            group.create_task(load.run())
            for number in range(backups):
                await _back_up_and_judge(load, data=tmp_path / "data", folder=tmp_path / f"backup-{number}")
            load.stop()


async def _back_up_and_judge(load: Load, *, data: Path, folder: Path) -> None:
    before = set(load.acknowledged)
    steps: list[str] = []
    made = await back_up_to(
        Settings(data=str(data)), folder=folder, progress=lambda doing, done, total: steps.append(doing)
    )
    assert len(load.acknowledged) > len(before), "nothing was written meanwhile"
    assert steps.count("copying pages of the database") > 3
    seen, counters, events = await look(folder)
    assert before - seen == set(), "acknowledged before the backup, and not in it"
    assert seen == events
    assert {writer: sum(id.startswith(f"sub_{writer}_") for id in seen) for writer in counters} == counters
    assert made.records == len(seen) + BULK + sum(count > 0 for count in counters.values())


def test_registry_starts_from_a_backup__that_was_taken_while_it_ran(tmp_path: Path) -> None:
    data, copy = tmp_path / "data", tmp_path / "copy"

    async def fill() -> None:
        async with open_house("sqlite", data) as house:
            await fill_house(house)

    asyncio.run(fill())
    with registry(data):
        done = run("backup", str(copy), "--json", "--data", str(data))
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads((copy / "backup.json").read_text())
    assert (copy / "registry.db").stat().st_mode & 0o777 == 0o600
    with registry(copy):
        health = json.loads(run("health", "--json", "--data", str(copy)).stdout)
        assert health["submissions"]["total"] == 40
        assert json.loads(run("skills", "--json", "--data", str(copy)).stdout)["total"] == 2
    again = run("backup", str(copy), "--data", str(data))
    assert (again.returncode, "folder_taken" in again.stderr) == (2, True)


async def test_backup_tells_of_a_blob_that_the_registry_lacks_or_the_disk_has_changed(tmp_path: Path) -> None:
    settings = Settings(data=str(tmp_path / "data"))
    async with open_house("sqlite", tmp_path / "data") as house:
        await fill_house(house, submissions=1)
        blobs = house.blobs
        assert isinstance(blobs, BlobFolder)
        path = blobs.path(await blobs.put(b"the pinned archive"))
    path.write_bytes(b"the pinned archivE")
    with pytest.raises(BlobCorrupt):
        await back_up_to(settings, folder=tmp_path / "one", progress=untold)
    path.unlink()
    with pytest.raises(BackupDamaged, match="names the blob"):
        await back_up_to(settings, folder=tmp_path / "two", progress=untold)
    assert not (tmp_path / "two" / "backup.json").exists()
    with pytest.raises(FolderTaken):
        await back_up_to(settings, folder=tmp_path / "two", progress=untold)


async def test_backup_refuses_a_file_that_does_not_pass_its_check(tmp_path: Path) -> None:
    settings = Settings(data=str(tmp_path / "data"))
    async with open_house("sqlite", tmp_path / "data") as house:
        await fill_house(house, submissions=300)
    path = tmp_path / "data" / "registry.db"
    connection = apsw.Connection(str(path))
    root = connection.execute(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_catalog_submissions_1'"
    ).get
    size = connection.pragma("page_size")
    connection.close()
    content = bytearray(path.read_bytes())
    content[(root - 1) * size + 100 : root * size] = bytes(size - 100)
    path.write_bytes(content)
    with pytest.raises(BackupDamaged):
        await back_up_to(settings, folder=tmp_path / "backup", progress=untold)
