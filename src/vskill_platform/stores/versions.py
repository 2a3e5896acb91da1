"""Versions of published skills, and the archives they name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from vskill_platform.domain.ids import VERSION_PREFIX, Digest, version_key, version_prefix
from vskill_platform.domain.skill import SkillVersion
from vskill_platform.domain.versions import version_order
from vskill_platform.ports.commit import ABSENT, Delete, Operation, Put
from vskill_platform.stores.reads import Settled, list_keys, read_keys, read_prefix, require_complete
from vskill_platform.stores.records import decode_record, encode_changed, encode_record
from vskill_platform.worker_context import current_env

_versions = msgspec.json.Decoder(SkillVersion)


class FoundVersion(NamedTuple):
    """A version as it was read: the record, and its bytes, which may hold more than we know."""

    version: SkillVersion
    value: bytes


async def get_versions(slug: str) -> list[SkillVersion]:
    """Every version of a skill, newest first."""
    return [found.version for found in await find_versions(slug)]


async def count_versions(slug: str) -> int:
    """How many versions a skill has, without reading any."""
    return sum([len(page) async for page in list_keys(version_prefix(slug))])


async def find_versions(slug: str) -> list[FoundVersion]:
    """The same, each with its bytes. Raises StoreUnavailable unless every one could be read."""
    found: Settled[FoundVersion] = require_complete(await read_prefix(version_prefix(slug), _find))
    return sorted(found, key=lambda one: version_order(one.version.version), reverse=True)


async def get_version(slug: str, version: str) -> SkillVersion | None:
    """One version of a skill, or None."""
    key = version_key(slug, version)
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else decode_version(key, entry.value)


class VersionRun(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Which run of which submission a version is from."""

    slug: str
    submission_id: str
    run: int


_version_runs = msgspec.json.Decoder(VersionRun)


async def get_version_runs(versions: Sequence[tuple[str, str]]) -> Settled[VersionRun]:
    """The runs that these versions (slug and number) are from; those that are not there are left out and counted."""
    return await read_keys([version_key(slug, number) for slug, number in versions], _decode_run)


def _decode_run(key: str, value: bytes) -> VersionRun:
    return decode_record(key, value, decoder=_version_runs)


async def referenced_digests() -> set[Digest]:
    """The digests of every archive that a version names. Raises StoreUnavailable unless every version could be read."""
    found = require_complete(await read_prefix(VERSION_PREFIX, archive_digests))
    return {digest for digests in found for digest in digests}


def archive_digests(key: str, value: bytes) -> tuple[Digest, ...]:
    """The archives that the version in a value names. Raises MalformedRecord."""
    version = decode_version(key, value)
    return Digest(version.zip_digest), Digest(version.tar_digest)


def putting_version(version: SkillVersion, *, previous: bytes | None = None) -> Operation:
    """The operation that keeps a version: a new one, which must not exist, or one in place of the bytes before."""
    key = version_key(version.slug, version.version)
    if previous is None:
        return Put(key, encode_record(version), if_version=ABSENT)
    return Put(key, encode_changed(version, key=key, previous=previous))


def changing_version(found: FoundVersion, **changes: object) -> Operation:
    """The operation that keeps a version with some fields changed. What guards it is the record of its skill."""
    return putting_version(msgspec.structs.replace(found.version, **changes), previous=found.value)


def moving_version(found: FoundVersion, *, to_slug: str) -> list[Operation]:
    """The operations that take a version along when its skill gets another slug."""
    moved = msgspec.structs.replace(found.version, slug=to_slug)
    return [putting_version(moved, previous=found.value), leaving_version(found.version)]


def leaving_version(version: SkillVersion) -> Operation:
    """The operation that removes a version from where its skill was."""
    return Delete(version_key(version.slug, version.version))


def _find(key: str, value: bytes) -> FoundVersion:
    return FoundVersion(decode_version(key, value), value)


def decode_version(key: str, value: bytes) -> SkillVersion:
    """The version in a value. Raises MalformedRecord."""
    return decode_record(key, value, decoder=_versions)
