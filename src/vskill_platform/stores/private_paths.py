"""Private paths: a secret in an address that leads whoever has it to one collection. Kept as hashes, listed, and revocable."""

from __future__ import annotations

import secrets
from typing import NamedTuple

import msgspec

from vskill_platform.domain.collection import MAX_PATHS, Collection, PrivatePath, path_hash, path_key, path_use_key
from vskill_platform.domain.errors import Conflict, InvalidInput, NotFound
from vskill_platform.domain.times import iso_from_ms, ms_from_iso
from vskill_platform.ports.commit import ABSENT, Check, Delete, Operation, Put
from vskill_platform.stores.collections import (
    CollectionSkill,
    get_collection,
    putting_collection,
    skills_of_collection,
)
from vskill_platform.stores.fresh import commit_fresh
from vskill_platform.stores.publishers import now_iso
from vskill_platform.stores.reads import read_keys, require_complete
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

SECRET_PREFIX = "vsp_"
MAX_LABEL_CHARS = 80
_MAX_SECRET_CHARS = 100
_USE_NOTED_MS = 60_000
"""How often it is written down that a path is used."""
_paths = msgspec.json.Decoder(PrivatePath)


class OpenedPath(NamedTuple):
    """A path, and its secret, which is told once and not kept."""

    path: PrivatePath
    secret: str


class ListedPath(NamedTuple):
    """A path as its owners see it, and when it was last used."""

    path: PrivatePath
    last_used_at: str | None


class PathSkills(NamedTuple):
    """Where a private path leads: the collection, and its skills as they are now."""

    collection: Collection
    skills: list[CollectionSkill]


async def open_path(publisher: str, name: str, *, label: str, account: str) -> OpenedPath:
    """A new private path to a collection. Raises NotFound or InvalidInput."""
    label = " ".join(label.split())
    if len(label) > MAX_LABEL_CHARS or not label.isprintable():
        raise InvalidInput(f"A label has at most {MAX_LABEL_CHARS} printable characters.")
    secret = SECRET_PREFIX + secrets.token_urlsafe(32)
    path = PrivatePath(
        id=f"pth_{current_env('writes').random_id().hex}",
        publisher=publisher,
        collection=name,
        label=label,
        created_by=account,
        created_at=now_iso(),
    )

    async def prepare() -> tuple[None, list[Operation]]:
        found = await get_collection(publisher, name)
        paths = found.collection.paths
        if len(paths) >= MAX_PATHS:
            raise InvalidInput(f"A collection has at most {MAX_PATHS} private paths. Revoke one that nobody uses.")
        hashed = path_hash(secret)
        collection = msgspec.structs.replace(found.collection, paths=(*paths, hashed))
        kept = Put(path_key(hashed), encode_record(path), if_version=ABSENT)
        return None, [kept, putting_collection(collection, found=found)]

    await commit_fresh(prepare)
    return OpenedPath(path, secret)


async def list_paths(collection: Collection) -> list[ListedPath]:
    """The private paths to a collection, the oldest first."""
    listed = [await _list(hashed) for hashed in collection.paths]
    return [one for one in listed if one is not None]


async def revoke_path(publisher: str, name: str, identity: str) -> None:
    """Close a private path at once. Raises NotFound."""

    async def prepare() -> tuple[None, list[Operation]]:
        found = await get_collection(publisher, name)
        hashed = await _hash_of(found.collection, identity)
        left = tuple(one for one in found.collection.paths if one != hashed)
        collection = msgspec.structs.replace(found.collection, paths=left)
        gone = [Delete(path_key(hashed)), Delete(path_use_key(hashed))]
        return None, [*gone, putting_collection(collection, found=found)]

    await commit_fresh(prepare)


async def _hash_of(collection: Collection, identity: str) -> str:
    for hashed in collection.paths:
        listed = await _list(hashed)
        if listed is not None and listed.path.id == identity:
            return hashed
    raise NotFound(
        f"'{collection.publisher}/{collection.name}' has no private path '{identity[:60]}'.", id=identity[:60]
    )


async def skills_of_path(secret: str) -> PathSkills:
    """Where a private path leads. Raises NotFound for a secret that there is not, or is no more. Notes that it was used."""
    collection = await path_collection(secret)
    return PathSkills(collection, await skills_of_collection(collection))


async def path_collection(secret: str) -> Collection:
    """The collection that a private path leads to. Raises and notes the same."""
    hashed = path_hash(secret[:_MAX_SECRET_CHARS])
    entry = await current_env("kv").kv.get(path_key(hashed))
    if entry is None:
        raise _nowhere()
    path = _decode(path_key(hashed), entry.value)
    collection = (await get_collection(path.publisher, path.collection)).collection
    await _note_use(hashed, version=entry.version)
    return collection


async def _list(hashed: str) -> ListedPath | None:
    found = require_complete(await read_keys([path_key(hashed)], _decode))
    used = await current_env("kv").kv.get(path_use_key(hashed))
    return ListedPath(found[0], None if used is None else used.value.decode()) if found else None


async def _note_use(hashed: str, *, version: int) -> None:
    """Write down that a path is used, now and then. Raises NotFound where it was revoked meanwhile."""
    env = current_env("writes")
    now_ms = env.clock.now_ms()
    used = await env.kv.get(path_use_key(hashed))
    if used is None or now_ms - ms_from_iso(used.value.decode()) >= _USE_NOTED_MS:
        noted = Put(path_use_key(hashed), iso_from_ms(now_ms).encode())
        try:
            await env.writes.commit([Check(path_key(hashed), if_version=version), noted])
        except Conflict as exc:
            raise _nowhere() from exc


def _nowhere() -> NotFound:
    return NotFound("This private path leads nowhere: it was revoked, or there was none.")


def _decode(key: str, value: bytes) -> PrivatePath:
    return decode_record(key, value, decoder=_paths)
