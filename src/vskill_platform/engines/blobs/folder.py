"""Blobs in a folder: temporary file, fsync, rename, fsync of the folder. Two hex digits of the digest make a subfolder."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from vskill_platform.domain.errors import BlobCorrupt, BlobMissing, DiskFull, StoreUnavailable
from vskill_platform.domain.ids import Digest, sha256_digest
from vskill_platform.engines.blobs.digests import digest_name, is_digest
from vskill_platform.engines.cursors import encode_cursor, text_position
from vskill_platform.engines.folders import make_folder, sync_folder
from vskill_platform.ports.blobs import BlobInfo, BlobPage
from vskill_platform.ports.clock import Clock
from vskill_platform.ports.kv import check_limit

_LISTING = "blobs"
_ABANDONED_MS = 24 * 3600 * 1000


class BlobFolder:
    """The default blob store. All disk work happens in threads."""

    def __init__(self, folder: Path, *, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._synced: set[Path] = set()
        self._making = threading.Lock()

    async def put(self, content: bytes) -> Digest:
        """Store bytes durably."""
        return await asyncio.to_thread(self._put, content)

    async def get(self, digest: Digest) -> bytes:
        """The bytes, checked against their digest."""
        return await asyncio.to_thread(self._get, digest)

    async def stat(self, digest: Digest) -> BlobInfo | None:
        """Size and time of a blob."""
        return await asyncio.to_thread(self._stat, digest)

    async def list(self, *, cursor: str | None = None, limit: int = 1000) -> BlobPage:
        """One page of blobs."""
        check_limit(limit)
        after = text_position(cursor, listing=_LISTING)
        return await asyncio.to_thread(self._list, after, limit)

    async def collect(self, referenced: Collection[Digest], *, put_before_ms: int) -> int:
        """Delete what nothing refers to."""
        return await asyncio.to_thread(self._collect, frozenset(referenced), put_before_ms)

    def path(self, digest: Digest) -> Path:
        """Where a blob's bytes are. Raises InvalidInput for what is no digest, so that no other path can come out."""
        name = digest_name(digest)
        return self._folder / name[:2] / name

    def _put(self, content: bytes) -> Digest:
        digest = sha256_digest(content)
        path = self.path(digest)
        with _translated_errors(self._folder):
            self._make_folder(path.parent)
            with self._locked(fcntl.LOCK_SH):
                if path.exists() and path.read_bytes() == content:
                    self._touch(path)
                    sync_folder(path.parent)  # whoever wrote it may not have come to this
                else:
                    self._write(path, content)
        return digest

    def _write(self, path: Path, content: bytes) -> None:
        temporary = path.with_name(f".{path.name}.{uuid4().hex}")
        try:
            with open(temporary, "xb", opener=_open_private) as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            self._touch(temporary)
            temporary.replace(path)
            sync_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)

    def _make_folder(self, folder: Path) -> None:
        """Make a subfolder that is there after a power cut; each process sees to that once for each."""
        with self._making:  # nobody goes on in a folder that another thread has made and not yet synced
            if folder in self._synced:
                return
            make_folder(self._folder)
            make_folder(folder)
            for above in (folder.parent, folder.parent.parent):  # a process that died may not have come to this
                sync_folder(above)
            self._synced.add(folder)

    def _touch(self, path: Path) -> None:
        moment_ns = self._clock.now_ms() * 1_000_000
        os.utime(path, ns=(moment_ns, moment_ns))

    def _get(self, digest: Digest) -> bytes:
        path = self.path(digest)
        try:
            with _translated_errors(self._folder):
                content = path.read_bytes()
        except FileNotFoundError as exc:
            raise BlobMissing(f"There is no blob {digest}.", digest=digest) from exc
        if sha256_digest(content) != digest:
            raise BlobCorrupt(
                f"The stored bytes of {digest} have another digest: the disk has changed them. Restore the blob from a backup.",
                digest=digest,
            )
        return content

    def _stat(self, digest: Digest) -> BlobInfo | None:
        path = self.path(digest)
        try:
            with _translated_errors(self._folder):
                found = path.stat()
        except FileNotFoundError:
            return None
        return BlobInfo(digest, found.st_size, found.st_mtime_ns // 1_000_000)

    def _list(self, after: str, limit: int) -> BlobPage:
        found: list[BlobInfo] = []
        with _translated_errors(self._folder):
            for digest in self._digests(after=after):
                if len(found) == limit:
                    return BlobPage(found, encode_cursor(listing=_LISTING, position=found[-1].digest), complete=False)
                info = self._stat(digest)
                if info is not None:
                    found.append(info)
        return BlobPage(found, None, complete=True)

    def _digests(self, *, after: str = "") -> Iterator[Digest]:
        if not self._folder.is_dir():
            return
        first = after.removeprefix("sha256:")
        for folder in sorted(path for path in self._folder.iterdir() if path.is_dir()):
            if folder.name < first[:2]:
                continue
            for name in sorted(os.listdir(folder)):
                digest = Digest(f"sha256:{name}")
                if is_digest(digest) and name > first:
                    yield digest

    def _collect(self, referenced: frozenset[Digest], put_before_ms: int) -> int:
        collected = 0
        with _translated_errors(self._folder):
            for digest in list(self._digests()):
                if digest not in referenced and self._delete_if_old(digest, put_before_ms):
                    collected += 1
            self._remove_abandoned()
        return collected

    def _delete_if_old(self, digest: Digest, put_before_ms: int) -> bool:
        """Look at the time and delete under one lock that every put shares, so that a blob put meanwhile survives."""
        with self._locked(fcntl.LOCK_EX):
            info = self._stat(digest)
            if info is None or info.put_ms >= put_before_ms:
                return False
            self.path(digest).unlink()
            return True

    def _remove_abandoned(self) -> None:
        """Temporary files of a process that died in the middle of a put."""
        before_ns = (self._clock.now_ms() - _ABANDONED_MS) * 1_000_000
        for path in self._folder.glob("??/.*"):
            with suppress(FileNotFoundError):  # its put has just ended
                if path.stat().st_mtime_ns < before_ns:
                    path.unlink()

    @contextmanager
    def _locked(self, kind: int) -> Iterator[None]:
        with (self._folder / ".lock").open("a") as file:
            fcntl.flock(file, kind)
            yield


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


@contextmanager
def _translated_errors(folder: Path) -> Iterator[None]:
    """The driver's errors in the words of the house; a missing file stays what it is, for the caller to name."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as exc:
        if exc.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"The disk under {folder} is full: the blob was not stored. Make room.") from exc
        raise StoreUnavailable(f"The blob folder {folder} cannot be used: {exc.strerror}.") from exc
