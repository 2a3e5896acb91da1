"""Collections: keeping them, and what their skills are at this moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

import msgspec

from vskill_platform.domain.collection import (
    COLLECTION_PREFIX,
    Collection,
    CollectionItem,
    check_items,
    check_name,
    collection_key,
    collection_prefix,
    path_key,
    path_use_key,
)
from vskill_platform.domain.errors import Conflict, NotFound
from vskill_platform.domain.ids import skill_key, version_key
from vskill_platform.domain.skill import Skill, SkillVersion
from vskill_platform.ports.commit import ABSENT, Delete, Operation, Put
from vskill_platform.stores.fresh import commit_fresh
from vskill_platform.stores.publishers import now_iso
from vskill_platform.stores.reads import read_keys, read_prefix, require_complete
from vskill_platform.stores.records import decode_record, encode_changed, encode_record
from vskill_platform.stores.skills import alias_end, decode_skill
from vskill_platform.stores.versions import decode_version
from vskill_platform.worker_context import current_env

_collections = msgspec.json.Decoder(Collection)


class ItemStatus(StrEnum):
    """How a skill of a collection stands."""

    PUBLISHED = "published"
    YANKED = "yanked"
    GONE = "gone"


class CollectionSkill(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A skill of a collection as it is now. One that is gone has nothing but its slug, and the version that it was pinned to."""

    slug: str
    status: ItemStatus
    version: str | None = None
    is_pinned: bool = False
    name: str = ""
    description: str = ""
    content_digest: str = ""
    zip_digest: str = ""
    tar_digest: str = ""


class FoundCollection(NamedTuple):
    """A collection as it was read: the record, its bytes, and its version."""

    collection: Collection
    value: bytes
    version: int


async def get_collection(publisher: str, name: str) -> FoundCollection:
    """A collection of a publisher. Raises NotFound."""
    key = collection_key(publisher[:100], name[:100])
    entry = await current_env("kv").kv.get(key)
    if entry is None:
        raise no_such_collection(publisher, name)
    return FoundCollection(_decode(key, entry.value), entry.value, entry.version)


def no_such_collection(publisher: str, name: str) -> NotFound:
    """What somebody is told for whom there is no such collection: it does not exist, or is not theirs to see."""
    return NotFound(f"There is no collection '{publisher[:100]}/{name[:100]}'.", publisher=publisher[:100])


async def collections_of(publisher: str) -> Sequence[Collection]:
    """Every collection of a publisher, by name."""
    return require_complete(await read_prefix(collection_prefix(publisher), _decode))


async def public_collections() -> Sequence[Collection]:
    """Every public collection, by publisher and name."""
    everything = require_complete(await read_prefix(COLLECTION_PREFIX, _decode))
    return [collection for collection in everything if collection.is_public]


async def create_collection(collection: Collection) -> Collection:
    """Keep a new collection. Raises InvalidInput, or Conflict where the publisher has one of that name."""
    check_name(collection.name)
    check_items(collection.items)
    key = collection_key(collection.publisher, collection.name)
    try:
        await current_env("writes").writes.commit([Put(key, encode_record(collection), if_version=ABSENT)])
    except Conflict as exc:
        raise Conflict(f"There is a collection '{collection.publisher}/{collection.name}' already.") from exc
    return collection


async def change_collection(publisher: str, name: str, change: Callable[[Collection], Collection]) -> Collection:
    """Write what `change` makes of a collection, again where somebody else was faster. Raises what `change` raises."""

    async def prepare() -> tuple[Collection, list[Operation]]:
        found = await get_collection(publisher, name)
        changed = msgspec.structs.replace(change(found.collection), updated_at=now_iso())
        check_items(changed.items)
        return changed, [putting_collection(changed, found=found)]

    return await commit_fresh(prepare)


def putting_collection(collection: Collection, *, found: FoundCollection) -> Operation:
    """The operation that writes a collection in place of what was found."""
    key = collection_key(collection.publisher, collection.name)
    value = encode_changed(collection, key=key, previous=found.value)
    return Put(key, value, if_version=found.version)


async def remove_collection(publisher: str, name: str) -> None:
    """Remove a collection and every private path to it. Raises NotFound, or Conflict if it changes at this moment."""
    found = await get_collection(publisher, name)
    gone: list[Operation] = [Delete(collection_key(publisher, name), if_version=found.version)]
    for hashed in found.collection.paths:
        gone += [Delete(path_key(hashed)), Delete(path_use_key(hashed))]
    await current_env("writes").writes.commit(gone)


async def skills_of_collection(collection: Collection) -> list[CollectionSkill]:
    """The skills of a collection as they are now, in its order; those that are gone say so."""
    return [_view(*resolved) for resolved in await resolve_items(collection.items)]


class ResolvedItem(NamedTuple):
    """An item, and the version that it stands for now; None where there is none any more."""

    item: CollectionItem
    version: SkillVersion | None


async def resolve_items(items: Sequence[CollectionItem]) -> list[ResolvedItem]:
    """The versions that items stand for now, in their order: by the present slug, the newest where none is named."""
    slugs = {item.slug: item.slug for item in items}
    skills = await _read_skills(list(slugs))
    for missing in [slug for slug in slugs if slug not in skills]:
        slugs[missing] = await alias_end(missing)
    skills |= await _read_skills([slug for slug in slugs.values() if slug not in skills])
    wanted = [(item, skills.get(slugs[item.slug])) for item in items]
    keys = [None if skill is None else version_key(skill.slug, item.version or skill.version) for item, skill in wanted]
    read = require_complete(await read_keys([key for key in keys if key is not None], decode_version))
    versions = {version_key(one.slug, one.version): one for one in read}
    return [
        ResolvedItem(item, None if key is None else versions.get(key)) for item, key in zip(items, keys, strict=True)
    ]


async def _read_skills(slugs: list[str]) -> dict[str, Skill]:
    found = require_complete(await read_keys([skill_key(slug) for slug in slugs], _decode_named))
    return {skill.slug: skill for skill in found}


def _decode_named(key: str, value: bytes) -> Skill:
    return msgspec.structs.replace(decode_skill(key, value), slug=key.removeprefix(skill_key("")))


def _view(item: CollectionItem, version: SkillVersion | None) -> CollectionSkill:
    if version is None:
        return CollectionSkill(
            slug=item.slug, status=ItemStatus.GONE, version=item.version, is_pinned=item.version is not None
        )
    return CollectionSkill(
        slug=version.slug,
        status=ItemStatus.YANKED if version.is_yanked else ItemStatus.PUBLISHED,
        version=version.version,
        is_pinned=item.version is not None,
        name=version.name,
        description=version.description,
        content_digest=version.content_digest,
        zip_digest=version.zip_digest,
        tar_digest=version.tar_digest,
    )


def _decode(key: str, value: bytes) -> Collection:
    return decode_record(key, value, decoder=_collections)
