"""Blobs in an S3-compatible store under the contract of blobs, and what only an object store can be asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest

from vskill_platform.domain.errors import StoreUnavailable
from vskill_platform.domain.ids import Digest, sha256_digest
from vskill_platform.engines.blobs.object_store import ObjectStoreBlobs, open_object_store
from vskill_platform.testing.blobs_contract import BlobsContract, CorruptBlob, list_digests
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.s3_server import S3Server, running_s3_server


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with running_s3_server() as started:
        yield started


@pytest.fixture
def bucket(server: S3Server) -> str:
    name = f"bucket-{uuid4().hex}"
    server.make_bucket(name)
    return name


def open_blobs(server: S3Server, url: str, *, clock: FakeClock) -> ObjectStoreBlobs:
    return open_object_store(
        url,
        clock=clock,
        endpoint=server.endpoint,
        access_key_id=server.access_key_id,
        secret_access_key=server.secret_access_key,
    )


@pytest.fixture
def blobs(server: S3Server, bucket: str, clock: FakeClock) -> ObjectStoreBlobs:
    return open_blobs(server, f"s3://{bucket}/registry/one", clock=clock)


def stored_objects(server: S3Server, bucket: str) -> list[str]:
    """The name of every object in the bucket."""
    return re.findall(r"<Key>([^<]+)</Key>", server.request("GET", bucket).decode())


def _flip_a_bit(content: bytes) -> bytes:
    return bytes([content[0] ^ 1]) + content[1:]


def _cut_short(content: bytes) -> bytes:
    return content[:-1]


@pytest.fixture(params=[_flip_a_bit, _cut_short])
def corrupt(request: pytest.FixtureRequest, server: S3Server, bucket: str) -> CorruptBlob:
    change: Callable[[bytes], bytes] = request.param

    def change_stored(digest: Digest) -> None:
        for name in stored_objects(server, bucket):
            if digest.removeprefix("sha256:") in name:
                content = server.request("GET", f"{bucket}/{name}")
                server.request("PUT", f"{bucket}/{name}", content=change(content))

    return change_stored


class TestObjectStore(BlobsContract):
    pass


async def test_blobs_stay_below_their_prefix__and_leave_others_alone(
    server: S3Server, bucket: str, blobs: ObjectStoreBlobs, clock: FakeClock
) -> None:
    other = open_blobs(server, f"s3://{bucket}/registry/one-more", clock=clock)
    server.request("PUT", f"{bucket}/registry/one/README", content=b"not a blob")
    mine, theirs = await blobs.put(b"mine"), await other.put(b"theirs")
    assert (await list_digests(blobs), await list_digests(other)) == ([mine], [theirs])
    assert await blobs.collect([], put_before_ms=clock.now_ms() + 1) == 1
    assert await other.get(theirs) == b"theirs"
    assert "registry/one/README" in stored_objects(server, bucket)


async def test_what_is_not_given_comes_from_the_variables_that_s3_tools_read(
    server: S3Server, bucket: str, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", server.access_key_id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", server.secret_access_key)
    digest = await open_object_store(f"s3://{bucket}", clock=clock).put(b"content")
    assert await open_blobs(server, f"s3://{bucket}", clock=clock).get(digest) == b"content"


async def test_whole_bucket_can_be_used__without_a_prefix(server: S3Server, bucket: str, clock: FakeClock) -> None:
    blobs = open_blobs(server, f"s3://{bucket}", clock=clock)
    digest = await blobs.put(b"content")
    assert await blobs.get(digest) == b"content"


async def test_superseded_puts_go__when_a_collection_comes(
    server: S3Server, bucket: str, blobs: ObjectStoreBlobs, clock: FakeClock
) -> None:
    for _ in range(3):
        digest = await blobs.put(b"content")
        await clock.advance(1)
    assert len(stored_objects(server, bucket)) == 3
    assert await blobs.collect([digest], put_before_ms=clock.now_ms()) == 0
    assert len(stored_objects(server, bucket)) == 1
    assert await blobs.get(digest) == b"content"


async def test_get_takes_an_older_put__where_the_newest_was_changed(
    server: S3Server, bucket: str, blobs: ObjectStoreBlobs, clock: FakeClock
) -> None:
    await blobs.put(b"content")
    await clock.advance(1)
    digest = await blobs.put(b"content")
    server.request("PUT", f"{bucket}/{stored_objects(server, bucket)[-1]}", content=b"changed")
    assert await blobs.get(digest) == b"content"


async def test_store_that_cannot_be_reached_is_unavailable__and_never_empty(clock: FakeClock, server: S3Server) -> None:
    missing = open_blobs(server, "s3://no-such-bucket", clock=clock)
    for call in (
        lambda: missing.put(b"content"),
        lambda: missing.get(sha256_digest(b"content")),
        lambda: missing.stat(sha256_digest(b"content")),
        missing.list,
        lambda: missing.collect([], put_before_ms=0),
    ):
        with pytest.raises(StoreUnavailable):
            await call()
