"""A blob that a commit names is whole on the disk before the commit begins: what a power cut leaves of the folder, at worst.

The calls that bring bytes and names to the disk are watched. Only what was synced counts: the bytes of a file as they were
when it was synced last, and the names of a folder as they were when the folder was.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from tests.faults.figures import Tell
from tests.pipeline.journey import LOOPBACK, Journey, skill_md
from vskill_platform.domain.ids import Digest
from vskill_platform.engines.blobs import BlobFolder
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ingest.git import GitSource
from vskill_platform.pipeline.process import process_message
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.commit import Committed, Operation, Put
from vskill_platform.scanning.pool import ScannerPool
from vskill_platform.settings import convert_settings
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.git_server import serve_repositories

_DIGEST = re.compile(rb"sha256:[0-9a-f]{64}")


class Forgotten(StrEnum):
    """A fault to plant: what is not synced though it should be."""

    NOTHING = "nothing"
    FILES = "files"
    FOLDERS = "folders"


class SyncedDisk:
    """What is certainly on the disk below a folder."""

    def __init__(self, root: Path, forgotten: Forgotten) -> None:
        self._root = root
        self._forgotten = forgotten
        self._names: dict[int, dict[str, int]] = {}
        self._contents: dict[int, bytes] = {}

    def sync(self, descriptor: int, really_sync: Callable[[int], None]) -> None:
        """Sync a descriptor: what it holds before is safe afterwards."""
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            names = {entry.name: entry.inode() for entry in os.scandir(descriptor)}
            really_sync(descriptor)
            if self._forgotten is not Forgotten.FOLDERS:
                self._names[found.st_ino] = names
        else:
            content = Path(f"/proc/self/fd/{descriptor}").read_bytes()
            really_sync(descriptor)
            if self._forgotten is not Forgotten.FILES:
                self._contents[found.st_ino] = content

    def read(self, path: Path) -> bytes | None:
        """The bytes of a file after a power cut now, at worst; None if it may be missing or empty."""
        inode: int | None = self._root.stat().st_ino
        for name in path.relative_to(self._root).parts:
            inode = self._names.get(inode or 0, {}).get(name)
        return self._contents.get(inode or 0)


@contextmanager
def synced_disk(root: Path, forgotten: Forgotten = Forgotten.NOTHING) -> Iterator[SyncedDisk]:
    """Watch what is synced below a folder while the block lasts."""
    disk, really_sync = SyncedDisk(root, forgotten), os.fsync
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: disk.sync(descriptor, really_sync))
        yield disk


async def put_many(root: Path, disk: SyncedDisk, *, puts: int, seed: int) -> list[Digest]:
    """Put blobs from many sides, some of them the same; those that a power cut could take after their acknowledgement."""
    chance = random.Random(seed)
    blobs = BlobFolder(root / "some" / "data" / "blobs", clock=SystemClock())
    contents = [chance.randbytes(chance.choice((0, 1, 5000, 200_000))) for _ in range(puts)]
    lost: list[Digest] = []

    async def put(content: bytes) -> None:
        digest = await blobs.put(content)
        if disk.read(blobs.path(digest)) != content:
            lost.append(digest)

    await asyncio.gather(*(put(content) for content in contents + contents[: puts // 4]))
    return lost


@pytest.mark.parametrize("seed", range(3))
async def test_blob_is_on_the_disk__when_put_returns(tmp_path: Path, seed: int, tell: Tell) -> None:
    with synced_disk(tmp_path) as disk:
        assert await put_many(tmp_path, disk, puts=40, seed=seed) == []
    tell(f"blobs, seed {seed}: 50 puts acknowledged, 0 that a power cut could take")


@pytest.mark.parametrize("forgotten", [Forgotten.FILES, Forgotten.FOLDERS])
async def test_blob_test_finds_fault__when_something_is_not_synced(tmp_path: Path, forgotten: Forgotten) -> None:
    with synced_disk(tmp_path, forgotten) as disk:
        assert len(await put_many(tmp_path, disk, puts=40, seed=1)) == 50


class WatchedWrites:
    """Writes that note which blobs a commit names, and which of these a power cut could take at that moment."""

    def __init__(self, writes: Any, blobs: BlobFolder, disk: SyncedDisk) -> None:
        self._writes, self._blobs, self._disk = writes, blobs, disk
        self.named: set[Digest] = set()
        self.unsafe: set[Digest] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writes, name)

    async def commit(self, operations: Sequence[Operation]) -> Committed:
        values = [operation.value for operation in operations if isinstance(operation, Put)]
        for digest in {Digest(found.decode()) for value in values for found in _DIGEST.findall(value)}:
            if await self._blobs.stat(digest) is not None:  # other digests are of contents, not of blobs
                self.named.add(digest)
                if self._disk.read(self._blobs.path(digest)) is None:
                    self.unsafe.add(digest)
        done: Committed = await self._writes.commit(operations)
        return done


async def test_every_blob_is_on_the_disk__before_a_commit_names_it(tmp_path: Path, tell: Tell) -> None:
    """A repository of several skills, through the real pipeline: pinned bytes and both archives of each version."""
    data, settings = tmp_path / "some" / "data", convert_settings(LOOPBACK)
    (tmp_path / "repositories").mkdir()
    with synced_disk(tmp_path) as disk:
        engine = await open_sqlite(data / "registry.db", clock=SystemClock())
        async with (
            serve_repositories(tmp_path / "repositories") as address,
            GitSource(settings, folder=data / "fetch") as source,
            ScannerPool(settings) as scanner,
        ):
            env = make_env(
                engine,
                clock=SystemClock(),
                folder=data,
                source=source,
                scanner=scanner,
                process=process_message,
                **LOOPBACK,
            )
            assert isinstance(env.blobs, BlobFolder)
            writes = WatchedWrites(env.writes, env.blobs, disk)
            journey = Journey(env=env, repositories=tmp_path / "repositories", address=address).with_env(writes=writes)
            names = [f"skill-{number}" for number in range(4)]
            journey.repository("acme/many", {f"{name}/SKILL.md": skill_md(name) for name in names})
            children = await journey.take_through("acme/many")
            assert [child.state for child in children] == ["PUBLISHED"] * len(names)
        await engine.close()
    assert len(writes.named) >= 2 * len(names)
    assert writes.unsafe == set()
    tell(f"blobs in the pipeline: {len(writes.named)} named by commits, 0 that a power cut could take")
