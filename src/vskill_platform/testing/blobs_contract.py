"""What every blob store must do: the sentences of `ports.blobs` as tests, to be inherited by a store's test module.

The module that inherits `BlobsContract` provides `clock`, a FakeClock, `blobs`, a fresh store that was opened with it, and
`corrupt`, a callable that changes the stored bytes of a digest behind the store's back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from hashlib import sha256

import pytest

from vskill_platform.domain.errors import BlobCorrupt, BlobMissing, InvalidCursor, InvalidInput
from vskill_platform.domain.ids import Digest, sha256_digest
from vskill_platform.ports.blobs import BlobInfo, Blobs
from vskill_platform.testing.clock import FakeClock

CorruptBlob = Callable[[Digest], None]

EMPTY_DIGEST = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
HEX = sha256(b"never put").hexdigest()
NEVER_PUT = Digest(f"sha256:{HEX}")

each_bad_digest = pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("sha256:", id="no-digits"),
        pytest.param(HEX, id="no-prefix"),
        pytest.param(f"md5:{HEX}", id="other-prefix"),
        pytest.param(f"SHA256:{HEX}", id="upper-case-prefix"),
        pytest.param(f"sha256:{HEX.upper()}", id="upper-case-digits"),
        pytest.param(f"sha256:{HEX[:-1]}", id="too-short"),
        pytest.param(f"sha256:{HEX}0", id="too-long"),
        pytest.param(f"sha256:{HEX[:-1]}g", id="not-a-digit"),
        pytest.param(f"sha256:{HEX}\n", id="newline"),
        pytest.param(f"sha256:{HEX[:-1]}\0", id="nul"),
        pytest.param(f"sha256:{HEX[:-1]}٣", id="foreign-digit"),
        pytest.param("sha256:../../x", id="path"),
        pytest.param(f"sha256:../{HEX[3:]}", id="path-of-the-right-length"),
        pytest.param(f"sha256:/{HEX[1:]}", id="absolute-path"),
    ],
)


async def put_many(blobs: Blobs, count: int) -> list[Digest]:
    """Put so many small blobs; gives their digests in order."""
    return sorted([await blobs.put(b"blob %d" % number) for number in range(count)])


async def list_all(blobs: Blobs, *, limit: int = 1000) -> list[BlobInfo]:
    """Every stored blob, page by page."""
    found: list[BlobInfo] = []
    cursor = None
    while True:
        page = await blobs.list(cursor=cursor, limit=limit)
        assert len(page.blobs) <= limit
        found += page.blobs
        if page.complete:
            return found
        assert page.cursor not in (None, cursor), "the listing does not go on"
        cursor = page.cursor


async def list_digests(blobs: Blobs, *, limit: int = 1000) -> list[Digest]:
    """The digests of every stored blob."""
    return [info.digest for info in await list_all(blobs, limit=limit)]


class StoringContract:
    """Putting, getting, looking, and what is not there or not whole."""

    @pytest.mark.parametrize(
        "content",
        [
            pytest.param(b"", id="empty"),
            pytest.param(b"\x00", id="nul"),
            pytest.param(bytes(range(256)) * 3, id="every-byte"),
            pytest.param(b"line\r\nline\n", id="line-ends"),
            pytest.param(bytes(range(251)) * (5 * 1024 * 1024 // 251 + 1), id="5-MiB"),
        ],
    )
    async def test_get_gives_the_bytes__that_were_put(self, blobs: Blobs, content: bytes) -> None:
        digest = await blobs.put(content)
        assert digest == f"sha256:{sha256(content).hexdigest()}"
        assert await blobs.get(digest) == content
        info = await blobs.stat(digest)
        assert info is not None
        assert info.size == len(content)

    async def test_empty_content_has_its_well_known_digest__like_any_other(self, blobs: Blobs) -> None:
        assert await blobs.put(b"") == EMPTY_DIGEST

    async def test_put_stores_the_same_bytes_once__however_often(self, blobs: Blobs) -> None:
        digests = {await blobs.put(b"content") for _ in range(3)}
        assert await list_digests(blobs) == list(digests)

    async def test_put_stores_the_same_bytes_once__by_parallel_callers(self, blobs: Blobs) -> None:
        digests = set(await asyncio.gather(*(blobs.put(b"content" * 1000) for _ in range(20))))
        assert await list_digests(blobs) == list(digests)
        assert await blobs.get(digests.pop()) == b"content" * 1000

    async def test_put_keeps_apart__what_differs_in_one_byte(self, blobs: Blobs) -> None:
        first, second = await blobs.put(b"content"), await blobs.put(b"Content")
        assert [await blobs.get(first), await blobs.get(second)] == [b"content", b"Content"]

    async def test_stat_tells_digest_size_and_moment__of_a_put(self, blobs: Blobs, clock: FakeClock) -> None:
        digest = await blobs.put(b"content")
        assert await blobs.stat(digest) == BlobInfo(digest, 7, clock.now_ms())

    async def test_put_renews_the_moment__of_bytes_that_are_there(self, blobs: Blobs, clock: FakeClock) -> None:
        digest = await blobs.put(b"content")
        await clock.advance(3600)
        await blobs.put(b"content")
        assert await blobs.stat(digest) == BlobInfo(digest, 7, clock.now_ms())

    async def test_get_does_not_renew_the_moment__of_a_put(self, blobs: Blobs, clock: FakeClock) -> None:
        put_ms = clock.now_ms()
        digest = await blobs.put(b"content")
        await clock.advance(3600)
        await blobs.get(digest)
        assert await blobs.stat(digest) == BlobInfo(digest, 7, put_ms)

    async def test_get_raises__for_a_blob_that_is_missing(self, blobs: Blobs) -> None:
        with pytest.raises(BlobMissing):
            await blobs.get(NEVER_PUT)
        await blobs.put(b"another")
        with pytest.raises(BlobMissing):
            await blobs.get(NEVER_PUT)

    async def test_stat_is_none__for_a_blob_that_is_missing(self, blobs: Blobs) -> None:
        assert await blobs.stat(NEVER_PUT) is None

    async def test_get_raises__for_bytes_that_were_changed(self, blobs: Blobs, corrupt: CorruptBlob) -> None:
        digest = await blobs.put(b"content")
        corrupt(digest)
        with pytest.raises(BlobCorrupt):
            await blobs.get(digest)

    async def test_stat_does_not_read__bytes_that_were_changed(self, blobs: Blobs, corrupt: CorruptBlob) -> None:
        digest = await blobs.put(b"content")
        corrupt(digest)
        info = await blobs.stat(digest)
        assert info is not None
        assert info.digest == digest

    async def test_put_heals__bytes_that_were_changed(
        self, blobs: Blobs, corrupt: CorruptBlob, clock: FakeClock
    ) -> None:
        digest = await blobs.put(b"content")
        corrupt(digest)
        await clock.advance(1)
        assert await blobs.put(b"content") == digest
        assert await blobs.get(digest) == b"content"
        assert await list_all(blobs) == [BlobInfo(digest, 7, clock.now_ms())]

    @each_bad_digest
    async def test_get_refuses__what_is_no_digest(self, blobs: Blobs, text: str) -> None:
        digest = await blobs.put(b"content")
        with pytest.raises(InvalidInput):
            await blobs.get(Digest(text))
        assert await list_digests(blobs) == [digest]

    @each_bad_digest
    async def test_stat_refuses__what_is_no_digest(self, blobs: Blobs, text: str) -> None:
        with pytest.raises(InvalidInput):
            await blobs.stat(Digest(text))
        assert await list_digests(blobs) == []


class ListingContract:
    """Pages of what is stored."""

    async def test_list_is_empty_and_complete__before_any_put(self, blobs: Blobs) -> None:
        page = await blobs.list()
        assert (page.blobs, page.complete) == ([], True)

    async def test_list_gives_blobs_in_the_order_of_their_digests__whole(self, blobs: Blobs, clock: FakeClock) -> None:
        digests = await put_many(blobs, 40)
        sizes = {sha256_digest(b"blob %d" % number): len(b"blob %d" % number) for number in range(40)}
        assert await list_all(blobs) == [BlobInfo(digest, sizes[digest], clock.now_ms()) for digest in digests]

    @pytest.mark.parametrize("limit", [1, 7, 39, 40, 41])
    async def test_list_pages_to_the_end__each_blob_once(self, blobs: Blobs, limit: int) -> None:
        digests = await put_many(blobs, 40)
        assert await list_digests(blobs, limit=limit) == digests

    async def test_list_goes_on_behind_its_cursor__when_what_was_listed_has_gone(
        self, blobs: Blobs, clock: FakeClock
    ) -> None:
        digests = await put_many(blobs, 10)
        page = await blobs.list(limit=4)
        await blobs.collect(digests[4:], put_before_ms=clock.now_ms() + 1)
        rest = await blobs.list(cursor=page.cursor)
        assert [info.digest for info in rest.blobs] == digests[4:]

    async def test_list_refuses__a_cursor_it_did_not_give(self, blobs: Blobs) -> None:
        await blobs.put(b"content")
        with pytest.raises(InvalidCursor):
            await blobs.list(cursor="not a cursor")

    @pytest.mark.parametrize("limit", [-1, 0])
    async def test_list_refuses__a_page_of_nothing(self, blobs: Blobs, limit: int) -> None:
        with pytest.raises(InvalidInput):
            await blobs.list(limit=limit)


class CollectingContract:
    """What is deleted, and what survives."""

    async def test_collect_deletes_what_is_old_and_not_referenced__and_says_how_many(
        self, blobs: Blobs, clock: FakeClock
    ) -> None:
        digests = await put_many(blobs, 10)
        await clock.advance(1)
        assert await blobs.collect(digests[:3], put_before_ms=clock.now_ms()) == 7
        assert await list_digests(blobs) == digests[:3]
        with pytest.raises(BlobMissing):
            await blobs.get(digests[5])
        assert await blobs.stat(digests[5]) is None

    async def test_collect_keeps_what_is_referenced__however_old(self, blobs: Blobs, clock: FakeClock) -> None:
        digest = await blobs.put(b"content")
        await clock.advance(365 * 24 * 3600)
        assert await blobs.collect({digest, NEVER_PUT}, put_before_ms=clock.now_ms()) == 0
        assert await blobs.get(digest) == b"content"

    async def test_collect_keeps_what_was_put_at_the_moment_or_later__though_nothing_refers_to_it(
        self, blobs: Blobs, clock: FakeClock
    ) -> None:
        await blobs.put(b"before")
        await clock.advance(1)
        moment_ms = clock.now_ms()
        at = await blobs.put(b"at")
        await clock.advance(1)
        later = await blobs.put(b"later")
        assert await blobs.collect([], put_before_ms=moment_ms) == 1
        assert await list_digests(blobs) == sorted([at, later])

    async def test_collect_keeps_what_was_put_again__since_the_moment(self, blobs: Blobs, clock: FakeClock) -> None:
        digest = await blobs.put(b"content")
        await clock.advance(1)
        moment_ms = clock.now_ms()
        await blobs.put(b"content")
        assert await blobs.collect([], put_before_ms=moment_ms) == 0
        assert await blobs.get(digest) == b"content"

    async def test_collect_deletes_nothing__of_an_empty_store(self, blobs: Blobs, clock: FakeClock) -> None:
        assert await blobs.collect([], put_before_ms=clock.now_ms() + 1) == 0

    async def test_collected_blob_can_be_put_again__like_a_new_one(self, blobs: Blobs, clock: FakeClock) -> None:
        digest = await blobs.put(b"content")
        assert await blobs.collect([], put_before_ms=clock.now_ms() + 1) == 1
        await clock.advance(1)
        await blobs.put(b"content")
        assert await blobs.get(digest) == b"content"
        assert await blobs.stat(digest) == BlobInfo(digest, 7, clock.now_ms())

    async def test_blob_survives__that_is_put_while_a_collection_runs(self, blobs: Blobs, clock: FakeClock) -> None:
        contents = [b"blob %d" % number for number in range(8)]
        for _ in range(30):
            await clock.advance(1)
            collections = [blobs.collect([], put_before_ms=clock.now_ms()) for _ in range(2)]
            puts = [blobs.put(content) for content in contents]
            _, digests = await asyncio.gather(asyncio.gather(*collections), asyncio.gather(*puts))
            assert [await blobs.get(digest) for digest in digests] == contents


class BlobsContract(StoringContract, ListingContract, CollectingContract):
    """The whole contract of `ports.blobs.Blobs`."""
