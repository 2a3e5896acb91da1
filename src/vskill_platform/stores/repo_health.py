"""Repository health: whether the source of a skill is still there and still tended."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from vskill_platform.domain.records import Record
from vskill_platform.ports.commit import Put
from vskill_platform.stores.reads import Settled, read_prefix
from vskill_platform.stores.records import decode_record, encode_changed, encode_record
from vskill_platform.worker_context import current_env

_PREFIX = "repo-health:"


class RepoStatus(StrEnum):
    """What the last look at a repository found. UNKNOWN is what a look that failed found; it is not OFFLINE."""

    ONLINE = "ONLINE"
    STALE = "STALE"
    OFFLINE = "OFFLINE"
    UNKNOWN = "UNKNOWN"


class RepoHealth(Record, frozen=True, kw_only=True, rename="camel"):
    """The last look at a skill's repository."""

    slug: str
    status: RepoStatus
    checked_at: str
    last_commit_at: str | None = None


_healths = msgspec.json.Decoder(RepoHealth)


async def get_repo_health(slug: str) -> RepoHealth | None:
    """The last look at a skill's repository, or None if there was none."""
    key = f"{_PREFIX}{slug}"
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else _decode(key, entry.value)


async def put_repo_health(health: RepoHealth) -> None:
    """Record a look; the latest one counts."""
    env = current_env("writes")
    key = f"{_PREFIX}{health.slug}"
    entry = await env.kv.get(key)
    value = encode_record(health) if entry is None else encode_changed(health, key=key, previous=entry.value)
    await env.writes.commit([Put(key, value)])


async def list_repo_health() -> Settled[RepoHealth]:
    """The last look at every repository."""
    return await read_prefix(_PREFIX, _decode)


def _decode(key: str, value: bytes) -> RepoHealth:
    return decode_record(key, value, decoder=_healths)
