"""The blob folder under the contract of blobs, and what only a folder can be asked: which files there are."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from vskill_platform.domain.errors import InvalidInput, StoreUnavailable
from vskill_platform.domain.ids import Digest, sha256_digest
from vskill_platform.engines.blobs import BlobFolder
from vskill_platform.testing.blobs_contract import BlobsContract, CorruptBlob, each_bad_digest, list_digests
from vskill_platform.testing.clock import FakeClock

DAY_S = 24 * 3600


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "blobs"


@pytest.fixture
def blobs(folder: Path, clock: FakeClock) -> BlobFolder:
    return BlobFolder(folder, clock=clock)


def flip_a_bit(content: bytes) -> bytes:
    return bytes([content[0] ^ 1]) + content[1:]


def cut_short(content: bytes) -> bytes:
    return content[:-1]


def make_empty(content: bytes) -> bytes:
    return b""


def make_longer(content: bytes) -> bytes:
    return content + b"\0"


@pytest.fixture(params=[flip_a_bit, cut_short, make_empty, make_longer])
def corrupt(request: pytest.FixtureRequest, blobs: BlobFolder) -> CorruptBlob:
    change: Callable[[bytes], bytes] = request.param

    def change_stored(digest: Digest) -> None:
        path = blobs.path(digest)
        path.write_bytes(change(path.read_bytes()))

    return change_stored


class TestBlobFolder(BlobsContract):
    pass


def stored_files(folder: Path) -> list[Path]:
    """Every file but the lock."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")


def leave_temporary_file(blobs: BlobFolder, clock: FakeClock, *, content: bytes = b"half of the con") -> Path:
    """What a process leaves that dies in the middle of a put."""
    path = blobs.path(sha256_digest(b"half of the content"))
    path.parent.mkdir(parents=True, exist_ok=True)
    leftover = path.with_name(f".{path.name}.0123456789abcdef")
    leftover.write_bytes(content)
    moment_ns = clock.now_ms() * 1_000_000
    os.utime(leftover, ns=(moment_ns, moment_ns))
    return leftover


async def test_blob_is_there__in_a_folder_that_is_opened_again(folder: Path, clock: FakeClock) -> None:
    digest = await BlobFolder(folder, clock=clock).put(b"content")
    assert await BlobFolder(folder, clock=clock).get(digest) == b"content"


async def test_put_leaves_one_file__however_often(blobs: BlobFolder, folder: Path) -> None:
    for _ in range(3):
        digest = await blobs.put(b"content")
    assert stored_files(folder) == [blobs.path(digest)]


async def test_leftovers_of_a_died_put_are_no_blobs__to_any_call(
    blobs: BlobFolder, folder: Path, clock: FakeClock
) -> None:
    leftover = leave_temporary_file(blobs, clock)
    digest = sha256_digest(b"half of the content")
    assert await list_digests(blobs) == []
    assert await blobs.stat(digest) is None
    assert await blobs.collect([], put_before_ms=clock.now_ms() + 1) == 0
    assert stored_files(folder) == [leftover]


async def test_put_succeeds__beside_the_leftovers_of_a_died_one(blobs: BlobFolder, clock: FakeClock) -> None:
    leave_temporary_file(blobs, clock)
    digest = await blobs.put(b"half of the content")
    assert await blobs.get(digest) == b"half of the content"
    assert await list_digests(blobs) == [digest]


async def test_collect_removes_leftovers_of_a_died_put__after_a_day(
    blobs: BlobFolder, folder: Path, clock: FakeClock
) -> None:
    leftover = leave_temporary_file(blobs, clock)
    await clock.advance(DAY_S)
    assert await blobs.collect([], put_before_ms=0) == 0
    assert leftover.exists()
    await clock.advance(1)
    assert await blobs.collect([], put_before_ms=0) == 0
    assert stored_files(folder) == []


async def test_files_of_others_are_no_blobs__in_the_same_folder(blobs: BlobFolder, clock: FakeClock) -> None:
    digest = await blobs.put(b"content")
    stray = blobs.path(digest).with_name("README")
    stray.write_text("not a blob")
    assert await list_digests(blobs) == [digest]
    assert await blobs.collect([digest], put_before_ms=clock.now_ms() + 1) == 0
    assert stray.exists()


@each_bad_digest
async def test_bad_digest_touches_nothing__in_or_beside_the_folder(
    blobs: BlobFolder, tmp_path: Path, text: str
) -> None:
    secret = tmp_path / "x"
    secret.write_text("not a blob")
    for call in (blobs.get, blobs.stat):
        with pytest.raises(InvalidInput):
            await call(Digest(text))
    assert list(tmp_path.rglob("*")) == [secret]


async def test_reading_makes_no_folder__before_the_first_put(blobs: BlobFolder, folder: Path, clock: FakeClock) -> None:
    await blobs.list()
    await blobs.stat(sha256_digest(b"content"))
    await blobs.collect([], put_before_ms=clock.now_ms())
    assert not folder.exists()


async def test_folder_that_is_a_file_is_unavailable__to_a_put(folder: Path, clock: FakeClock) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("not a folder")
    with pytest.raises(StoreUnavailable):
        await BlobFolder(folder, clock=clock).put(b"content")
