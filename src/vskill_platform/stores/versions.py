"""Versions of published skills, and the archives they name."""

from __future__ import annotations

import msgspec

from vskill_platform.domain.ids import VERSION_PREFIX, Digest, version_key, version_prefix
from vskill_platform.domain.skill import SkillVersion
from vskill_platform.domain.versions import version_order
from vskill_platform.ports.commit import ABSENT, Delete, Operation, Put
from vskill_platform.stores.reads import Settled, read_prefix, require_complete, require_readable
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

_versions = msgspec.json.Decoder(SkillVersion)


async def get_versions(slug: str) -> list[SkillVersion]:
    """Every version of a skill, newest first."""
    found: Settled[SkillVersion] = require_readable(await read_prefix(version_prefix(slug), _decode))
    return sorted(found, key=lambda version: version_order(version.version), reverse=True)


async def get_version(slug: str, version: str) -> SkillVersion | None:
    """One version of a skill, or None."""
    key = version_key(slug, version)
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else _decode(key, entry.value)


async def referenced_digests() -> set[Digest]:
    """The digests of every archive that a version names. Raises StoreUnavailable unless every version could be read."""
    found = require_complete(await read_prefix(VERSION_PREFIX, _decode))
    return {Digest(digest) for version in found for digest in (version.zip_digest, version.tar_digest)}


def putting_version(version: SkillVersion, *, is_new: bool) -> Operation:
    """The operation that keeps a version; a new one must not exist."""
    key = version_key(version.slug, version.version)
    return Put(key, encode_record(version), if_version=ABSENT if is_new else None)


def moving_version(version: SkillVersion, *, to_slug: str) -> list[Operation]:
    """The operations that take a version along when its skill gets another slug."""
    moved = msgspec.structs.replace(version, slug=to_slug)
    return [putting_version(moved, is_new=True), leaving_version(version)]


def leaving_version(version: SkillVersion) -> Operation:
    """The operation that removes a version from where its skill was."""
    return Delete(version_key(version.slug, version.version))


def _decode(key: str, value: bytes) -> SkillVersion:
    return decode_record(key, value, decoder=_versions)
