"""Tombstones: written in the commit that takes a skill away from its slug, removed in the one that publishes there again."""

from __future__ import annotations

import msgspec

from vskill_platform.domain.times import iso_from_ms
from vskill_platform.domain.tombstone import Departure, Tombstone, tombstone_key
from vskill_platform.ports.commit import Delete, Operation, Put
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

_tombstones = msgspec.json.Decoder(Tombstone)


async def get_tombstone(slug: str) -> Tombstone | None:
    """What is kept of the skill that was published under this slug, or None."""
    key = tombstone_key(slug)
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else decode_tombstone(key, entry.value)


def decode_tombstone(key: str, value: bytes) -> Tombstone:
    """The tombstone in a value. Raises MalformedRecord."""
    return decode_record(key, value, decoder=_tombstones)


def marking_withdrawn(slug: str, *, reason: str, kind: Departure = Departure.WITHDRAWN, by: str = "") -> Operation:
    """The operation that says that a skill was taken off the registry, how and why."""
    return _put(Tombstone(slug=slug, kind=kind, at=_now(), reason=reason, by=by))


def marking_renamed(slug: str, *, to_slug: str) -> Operation:
    """The operation that says that a skill has another slug now."""
    return _put(Tombstone(slug=slug, kind=Departure.RENAMED, at=_now(), to=to_slug))


def unmarking(slug: str) -> Operation:
    """The operation that removes the tombstone of a slug that is published under again; there need not be one."""
    return Delete(tombstone_key(slug))


def _put(tombstone: Tombstone) -> Operation:
    return Put(tombstone_key(tombstone.slug), encode_record(tombstone))


def _now() -> str:
    return iso_from_ms(current_env("clock").clock.now_ms())
