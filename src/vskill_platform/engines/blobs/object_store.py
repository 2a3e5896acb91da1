"""Blobs in an S3-compatible object store, through obstore.

Every put writes an object of its own, `{two digits}/{digest}/{moment}-{random}`, and the newest is the blob. An object store
has no lock that a put and a collection could share, and no time of last modification that a put could renew; but it can
list, in order and without delay, and it can delete exactly one object. So a collection deletes old objects by their full
name, and a put that comes meanwhile is another object, which it does not touch. What was superseded goes in the next
collection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from vskill_platform.domain.errors import BlobCorrupt, BlobMissing, StoreUnavailable
from vskill_platform.domain.ids import Digest, sha256_digest
from vskill_platform.engines.blobs.digests import digest_name, is_digest
from vskill_platform.engines.cursors import encode_cursor, text_position
from vskill_platform.ports.blobs import BlobInfo, BlobPage
from vskill_platform.ports.clock import Clock
from vskill_platform.ports.kv import check_limit

if TYPE_CHECKING:
    from obstore.store import S3Config

_LISTING = "blobs"
_CHUNK = 1000
_TRIES = 3
_CONNECT_LIMIT = timedelta(seconds=10)
_REQUEST_LIMIT = timedelta(seconds=60)
_RETRY_LIMIT = timedelta(seconds=30)
_LAST = "g"
"""Sorts behind every hex digit."""


class _Stored(NamedTuple):
    """One object: a put of a blob."""

    path: str
    digest: Digest
    put_ms: int
    size: int


Puts = list[_Stored]
"""Every put of one blob, oldest first."""


class ObjectStoreBlobs:
    """Blobs as objects of a bucket, below a prefix."""

    def __init__(self, store: S3Store, *, clock: Clock, place: str) -> None:
        self._store = store
        self._clock = clock
        self._place = place

    async def put(self, content: bytes) -> Digest:
        """Store bytes durably: the object store answers when it has them."""
        digest = await asyncio.to_thread(sha256_digest, content)
        path = f"{_folder(digest)}/{self._clock.now_ms():014d}-{uuid4().hex}"
        with self._translated_errors():
            await obstore.put_async(self._store, path, content)
        return digest

    async def get(self, digest: Digest) -> bytes:
        """The bytes, checked against their digest: of the newest put, or of one before it that is whole."""
        for _ in range(_TRIES):
            has_read = False
            puts = await self._puts(digest)
            for stored in reversed(puts):
                content = await self._read(stored)
                if content is not None and await asyncio.to_thread(sha256_digest, content) == digest:
                    return content
                has_read = has_read or content is not None
            if has_read:
                raise BlobCorrupt(
                    f"The stored bytes of {digest} in {self._place} have another digest. Restore the blob from a backup.",
                    digest=digest,
                )
            if not puts:
                break
        raise BlobMissing(f"There is no blob {digest}.", digest=digest)

    async def stat(self, digest: Digest) -> BlobInfo | None:
        """Size and time of a blob."""
        puts = await self._puts(digest)
        return _info(puts) if puts else None

    async def list(self, *, cursor: str | None = None, limit: int = 1000) -> BlobPage:
        """One page of blobs."""
        check_limit(limit)
        after = text_position(cursor, listing=_LISTING)
        found: list[BlobInfo] = []
        async for puts in self._blobs(after=after):
            if len(found) == limit:
                return BlobPage(found, encode_cursor(listing=_LISTING, position=found[-1].digest), complete=False)
            found.append(_info(puts))
        return BlobPage(found, None, complete=True)

    async def collect(self, referenced: Collection[Digest], *, put_before_ms: int) -> int:
        """Delete what nothing refers to, and puts that a newer one has superseded."""
        kept = frozenset(referenced)
        collected = 0
        async for puts in self._blobs():
            is_collected = puts[-1].digest not in kept and puts[-1].put_ms < put_before_ms
            old = puts if is_collected else [put for put in puts[:-1] if put.put_ms < put_before_ms]
            if old:
                with self._translated_errors():
                    await obstore.delete_async(self._store, [put.path for put in old])
            collected += is_collected
        return collected

    async def _read(self, stored: _Stored) -> bytes | None:
        """The bytes of one put, or None where a collection took it since it was listed."""
        with self._translated_errors():
            try:
                answer = await obstore.get_async(self._store, stored.path)
                return bytes(await answer.bytes_async())
            except FileNotFoundError:
                return None

    async def _puts(self, digest: Digest) -> Puts:
        """Every put of one blob, oldest first."""
        return [stored async for stored in self._objects(prefix=f"{_folder(digest)}/")]

    async def _blobs(self, *, after: str = "") -> AsyncIterator[Puts]:
        """The puts of each blob, in the order of their digests. A blob's puts stand together in a listing."""
        offset = f"{_folder(Digest(after))}/{_LAST}" if after else None
        puts: Puts = []
        async for stored in self._objects(offset=offset):
            if puts and puts[-1].digest != stored.digest:
                yield puts
                puts = []
            puts.append(stored)
        if puts:
            yield puts

    async def _objects(self, *, prefix: str | None = None, offset: str | None = None) -> AsyncIterator[_Stored]:
        """Our objects in the order of their names. Objects of others, with other names, are none of our business."""
        with self._translated_errors():
            stream = obstore.list(self._store, prefix, offset=offset, chunk_size=_CHUNK)
            async for chunk in stream:
                for meta in chunk:
                    stored = _parse(meta["path"], meta["size"])
                    if stored is not None:
                        yield stored

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """The driver's errors in the words of the house. What is not found here is the bucket."""
        try:
            yield
        except (BaseError, OSError, ValueError) as exc:
            raise StoreUnavailable(
                f"The object store at {self._place} cannot be used ({type(exc).__name__}). "
                "Check its address, its bucket and the key; `vskill-platform doctor` tries them."
            ) from exc


def open_object_store(
    url: str,
    *,
    clock: Clock,
    endpoint: str = "",
    region: str = "",
    access_key_id: str = "",
    secret_access_key: str = "",
) -> ObjectStoreBlobs:
    """The blobs at `s3://bucket/prefix`. What is not given is taken from the `AWS_*` variables, as S3 tools do.

    Nothing is sent yet. An endpoint by plain HTTP is allowed where the operator writes one.
    """
    parts = urlsplit(url)
    given: S3Config = {}
    if endpoint:
        given["endpoint"] = endpoint
    if region:
        given["region"] = region
    if access_key_id:
        given["access_key_id"] = access_key_id
    if secret_access_key:
        given["secret_access_key"] = secret_access_key
    store = S3Store(
        parts.netloc,
        config=given,
        prefix=parts.path.strip("/") or None,
        client_options={
            "allow_http": True,
            "connect_timeout": _CONNECT_LIMIT,
            "timeout": _REQUEST_LIMIT,
        },
        retry_config={"max_retries": 3, "retry_timeout": _RETRY_LIMIT},
    )
    return ObjectStoreBlobs(store, clock=clock, place=f"s3://{parts.netloc}{parts.path}")


def _folder(digest: Digest) -> str:
    name = digest_name(digest)
    return f"{name[:2]}/{name}"


def _info(puts: Puts) -> BlobInfo:
    """A blob as its newest put has it."""
    newest = puts[-1]
    return BlobInfo(newest.digest, newest.size, newest.put_ms)


def _parse(path: str, size: int) -> _Stored | None:
    """The put that an object is, or None for an object that is not ours."""
    folder, _, name = path.rpartition("/")
    start, _, digits = folder.rpartition("/")
    moment, _, random = name.partition("-")
    digest = Digest(f"sha256:{digits}")
    if not is_digest(digest) or start != digits[:2] or not (moment.isascii() and moment.isdigit() and random):
        return None
    return _Stored(path, digest, int(moment), size)
