"""Content-addressed bytes: written and synced before the commit that names them."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, Protocol

from vskill_platform.domain.ids import Digest


class BlobInfo(NamedTuple):
    """A stored blob: its digest, its size, and when it was last put."""

    digest: Digest
    size: int
    put_ms: int


class BlobPage(NamedTuple):
    """One page of stored blobs, by digest."""

    blobs: list[BlobInfo]
    cursor: str | None
    complete: bool


class Blobs(Protocol):
    """Bytes under their SHA-256. The same bytes are stored once, however often they are put."""

    async def put(self, content: bytes) -> Digest:
        """Store the bytes and return their digest; when it returns, they are on disk. Putting again renews `put_ms`."""
        ...

    async def get(self, digest: Digest) -> bytes:
        """The bytes. Raises BlobMissing, or BlobCorrupt where the stored bytes do not have the digest."""
        ...

    async def stat(self, digest: Digest) -> BlobInfo | None:
        """What is known of a blob without reading it, or None."""
        ...

    async def list(self, *, cursor: str | None = None, limit: int = 1000) -> BlobPage:
        """Stored blobs in the order of their digests."""
        ...

    async def collect(self, referenced: Collection[Digest], *, put_before_ms: int) -> int:
        """Delete blobs that are not referenced and were last put before that moment; say how many went.

        A blob that is put while this runs survives. The margin (a day) is the caller's promise that a blob put earlier
        than that is either referenced or forgotten.
        """
        ...
