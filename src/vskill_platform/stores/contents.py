"""The bytes of published versions: what leaves here has the digest that was verified, or nothing leaves."""

from __future__ import annotations

import asyncio
import hashlib

from vskill_platform.domain.archives import read_tar
from vskill_platform.domain.content import SkillContent, content_digest
from vskill_platform.domain.errors import BlobCorrupt, BlobMissing, NotFound, StoreUnavailable
from vskill_platform.domain.ids import Digest
from vskill_platform.domain.skill import SkillVersion, VersionFile
from vskill_platform.stores.byte_room import ByteRoom, HeldBytes
from vskill_platform.worker_context import current_env

ROOM = ByteRoom(256 * 1024 * 1024)
"""What this process may hold of archives."""


async def read_archive(version: SkillVersion, *, digest: str, size: int) -> HeldBytes:
    """One of a version's archives. Raises BlobCorrupt for other bytes, StoreUnavailable where there are none.

    Raises RegistryBusy while the process holds as many bytes as it may.
    """
    with ROOM.taking(size):
        archive = await _read(version, digest)
    return ROOM.hold(archive)


async def _read(version: SkillVersion, digest: str) -> bytes:
    try:
        return await current_env("blobs").blobs.get(Digest(digest))
    except BlobMissing as exc:
        raise StoreUnavailable(
            f"The archive of {version.slug} {version.version} is not in the blob store. Try again later; the operator's "
            "log names it.",
            digest=digest,
        ) from exc


async def read_content(version: SkillVersion) -> SkillContent:
    """All files of a version. Raises BlobCorrupt where they are not what was verified, RegistryBusy as above."""
    with ROOM.taking(2 * version.tar_size):
        content, digest = await asyncio.to_thread(_unpack, await _read(version, version.tar_digest))
    if digest != version.content_digest:
        raise BlobCorrupt(
            f"The archive {version.tar_digest} does not hold the content {version.content_digest}.",
            digest=version.tar_digest,
        )
    return content


def _unpack(archive: bytes) -> tuple[SkillContent, str]:
    content = read_tar(archive)
    return content, content_digest(content)


async def read_file(version: SkillVersion, path: str) -> bytes:
    """One file of a version. Raises NotFound, or BlobCorrupt where its bytes are not what was verified."""
    described = find_file(version, path)
    content = await read_content(version)
    found = next((file.content for file in content.files if file.path == path), None)
    if found is None or hashlib.sha256(found).hexdigest() != described.sha256:
        raise BlobCorrupt(f"'{path}' of {version.slug} {version.version} is not what was verified.", path=path)
    return found


def find_file(version: SkillVersion, path: str) -> VersionFile:
    """What is known of a file. Raises NotFound."""
    for file in version.files:
        if file.path == path:
            return file
    raise NotFound(f"{version.slug} {version.version} has no file '{path[:200]}'.", path=path[:200])
