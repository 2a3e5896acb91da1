"""Links that are told once and work once: kept by the hash of their secret, and gone with the commit that uses them."""

from __future__ import annotations

import secrets
from typing import NamedTuple

import msgspec

from vskill_platform.domain.account import Link, LinkPurpose
from vskill_platform.domain.secrets import hash_secret
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import ABSENT, Delete, Put
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

_SECRET_BYTES = 32
_links = msgspec.json.Decoder(Link)


class FoundLink(NamedTuple):
    """A link that works, and the operation that uses it up: of two commits with it one succeeds."""

    link: Link
    using: Delete


async def create_link(purpose: LinkPurpose, *, lasts_s: float, account_id: str | None = None) -> str:
    """Keep a link for a while. Returns its secret, which is told once."""
    env = current_env("writes")
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    ends_at = iso_from_ms(env.clock.now_ms() + int(lasts_s * 1000))
    link = Link(purpose=purpose, ends_at=ends_at, account_id=account_id)
    await env.writes.commit([Put(_key(secret), encode_record(link), if_version=ABSENT, ttl_s=lasts_s)])
    return secret


async def find_link(secret: str) -> FoundLink | None:
    """The link of a secret; None where there was none, it was used, or its time is over."""
    key = _key(secret)
    entry = await current_env("kv").kv.get(key)
    if entry is None:
        return None
    return FoundLink(decode_record(key, entry.value, decoder=_links), Delete(key, if_version=entry.version))


def _key(secret: str) -> str:
    return f"link:{hash_secret(secret)}"
