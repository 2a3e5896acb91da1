"""Trusted publishers in the store: finding the one that a repository belongs to, and the operations that change the list."""

from __future__ import annotations

import msgspec

from vskill_platform.domain.errors import Conflict, NotFound
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.domain.vendor import VENDOR_PREFIX, Vendor, read_source, sources_of, vendor_key
from vskill_platform.ports.commit import ABSENT, Delete, Emit, Put
from vskill_platform.stores.reads import read_keys, read_prefix, require_complete
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

_vendors = msgspec.json.Decoder(Vendor)


async def find_vendor(repo_url: str) -> Vendor | None:
    """The vendor that a repository belongs to, the nearest where there are several; None if nobody trusts it.

    Raises StoreUnavailable where that cannot be known.
    """
    keys = [vendor_key(source) for source in sources_of(repo_url)]
    found = require_complete(await read_keys(keys, _decode))
    return found[0] if found else None


async def list_vendors() -> list[Vendor]:
    """Every vendor, by source. Raises StoreUnavailable unless every one could be read."""
    return sorted(require_complete(await read_prefix(VENDOR_PREFIX, _decode)), key=lambda vendor: vendor.source)


async def add_vendor(source: str, *, reason: str, by: str, name: str = "") -> Vendor:
    """Trust an owner or a repository from now on. Raises InvalidInput, or Conflict where it is trusted already."""
    env = current_env("writes")
    vendor = Vendor(source=read_source(source), reason=reason, since=iso_from_ms(env.clock.now_ms()), by=by, name=name)
    key = vendor_key(vendor.source)
    if await env.kv.get(key) is not None:
        raise Conflict(f"{vendor.source} is a trusted vendor already.", source=vendor.source)
    await env.writes.commit([Put(key, encode_record(vendor), if_version=ABSENT), Emit("vendor.added", key, b"{}")])
    return vendor


async def remove_vendor(source: str) -> Vendor:
    """Trust it no more. What it has published stays as it is, tier included, until it is scanned again. Raises NotFound."""
    env = current_env("writes")
    key = vendor_key(read_source(source))
    entry = await env.kv.get(key)
    if entry is None:
        raise NotFound(f"{read_source(source)} is no trusted vendor.", source=source)
    await env.writes.commit([Delete(key, if_version=entry.version), Emit("vendor.removed", key, b"{}")])
    return _decode(key, entry.value)


def _decode(key: str, value: bytes) -> Vendor:
    return decode_record(key, value, decoder=_vendors)
