"""Repository health: whether the source of a skill is still there and still tended, and whether it has changed since.

A repository is looked at once for all its skills, and what was found is kept once (`repository:`). What earlier versions kept for
each skill (`repo-health:`) can still be read and written; of the two, the later look counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from vskill_platform.domain.records import Record
from vskill_platform.domain.repo_health import HostPause, RepositoryHealth, repository_key
from vskill_platform.domain.repo_health import RepoStatus as RepoStatus
from vskill_platform.domain.source_change import SOURCE_CHANGE_PREFIX, SourceChange
from vskill_platform.ports.commit import Emit, Put
from vskill_platform.stores.news import HEALTH_CHANGED, SOURCE_CHANGED
from vskill_platform.stores.reads import Settled, read_keys, read_prefix
from vskill_platform.stores.records import decode_record, encode_changed, encode_record
from vskill_platform.stores.skills import find_skill
from vskill_platform.worker_context import current_env

_PREFIX = "repo-health:"
_HOST_PREFIX = "repo-host:"
_STRIKES_KEPT_S = 86_400.0


class RepoHealth(Record, frozen=True, kw_only=True, rename="camel"):
    """The last look at a skill's repository. `known_status` is what the last look found that found out anything."""

    slug: str
    status: RepoStatus
    checked_at: str
    last_commit_at: str | None = None
    reason: str = ""
    head: str = ""
    moved_to: str = ""
    known_status: RepoStatus | None = None
    known_at: str = ""
    next_look_at: str = ""


class FoundRepository(NamedTuple):
    """What is known of a repository, as it was read."""

    health: RepositoryHealth
    value: bytes
    version: int


_healths = msgspec.json.Decoder(RepoHealth)
_repositories = msgspec.json.Decoder(RepositoryHealth)
_changes = msgspec.json.Decoder(SourceChange)
_pauses = msgspec.json.Decoder(HostPause)


async def get_repo_health(slug: str) -> RepoHealth | None:
    """The last look at a skill's repository, or None if there was none."""
    key = f"{_PREFIX}{slug}"
    entry = await current_env("kv").kv.get(key)
    own = None if entry is None else _decode(key, entry.value)
    found = await find_skill(slug)
    shared = None if found is None else await health_of_repository(found.skill.repo_url)
    if shared is None or (own is not None and own.checked_at > shared.checked_at):
        return own
    return as_health_of(slug, shared)


async def health_of_repository(repo_url: str) -> RepositoryHealth | None:
    """What looking at a repository has found; None where nobody has looked yet."""
    found = await find_repository(repo_url)
    return found.health if found is not None and found.health.checked_at else None


async def health_of_repositories(repo_urls: Iterable[str]) -> dict[str, RepositoryHealth]:
    """The same for many, by their addresses, in one read; who has not been looked at, or cannot be read, is left out."""
    keys = {url: repository_key(url) for url in repo_urls if url}
    settled = await read_keys(list(dict.fromkeys(keys.values())), decode_repository)
    known = {repository_key(found.repo_url): found for found in settled if found.checked_at}
    return {url: known[key] for url, key in keys.items() if key in known}


async def find_repository(repo_url: str) -> FoundRepository | None:
    """What is kept of a repository, or None."""
    key = repository_key(repo_url)
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else FoundRepository(decode_repository(key, entry.value), entry.value, entry.version)


def as_health_of(slug: str, health: RepositoryHealth) -> RepoHealth:
    """What is known of a repository, as a skill that comes from it shows it."""
    shared = {name: getattr(health, name) for name in RepoHealth.__struct_fields__ if name not in ("slug", "v")}
    return RepoHealth(slug=slug, **shared)


def putting_repository(found: FoundRepository, health: RepositoryHealth, *, due_ms: int) -> Put:
    """The operation that keeps what a look came to, if nobody else has looked meanwhile, until it is due again."""
    key = repository_key(health.repo_url)
    value = encode_changed(health, key=key, previous=found.value)
    return Put(key, value, if_version=found.version, due_ms=due_ms)


def telling_health(slug: str, before: RepositoryHealth, after: RepositoryHealth) -> Emit:
    """The event that says how a skill's repository is now."""
    data = {
        "status": after.status,
        "previous": before.known_status,
        "repoUrl": after.repo_url,
        "movedTo": after.moved_to,
    }
    return Emit(HEALTH_CHANGED, slug, msgspec.json.encode(data))


async def put_repo_health(health: RepoHealth) -> None:
    """Record a look for one skill alone; the latest one counts."""
    env = current_env("writes")
    key = f"{_PREFIX}{health.slug}"
    entry = await env.kv.get(key)
    value = encode_record(health) if entry is None else encode_changed(health, key=key, previous=entry.value)
    await env.writes.commit([Put(key, value)])


async def list_repo_health() -> Settled[RepoHealth]:
    """The last look at every repository that one was kept of for a skill alone."""
    return await read_prefix(_PREFIX, _decode)


async def find_source_change(slug: str) -> SourceChange | None:
    """How the source of a skill compared with what is published, when that was last looked at; None where it was not."""
    key = source_change_key(slug)
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else _decode_change(key, entry.value)


async def find_source_changes(slugs: Iterable[str]) -> dict[str, SourceChange]:
    """The same for many skills, in one read."""
    settled = await read_keys([source_change_key(slug) for slug in slugs], _decode_change)
    return {change.slug: change for change in settled}


def putting_source_change(change: SourceChange) -> Put:
    """The operation that keeps a comparison in place of the one before."""
    return Put(source_change_key(change.slug), encode_record(change))


def telling_source_change(change: SourceChange) -> Emit:
    """The event that says that the source of a skill is no longer what was verified."""
    data = {"commit": change.head, "kind": change.kind, "submissionId": change.submission_id}
    return Emit(SOURCE_CHANGED, change.slug, msgspec.json.encode(data))


async def find_host_pause(host: str) -> HostPause | None:
    """Until when a host is left alone, or None where it never asked for it of late."""
    key = f"{_HOST_PREFIX}{host}"
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else decode_record(key, entry.value, decoder=_pauses)


async def keep_host_pause(pause: HostPause) -> None:
    """Leave a host alone. It is forgotten a day after that ends."""
    env = current_env("writes")
    left_s = max(0.0, (pause.until_ms - env.clock.now_ms()) / 1000)
    await env.writes.commit([Put(f"{_HOST_PREFIX}{pause.host}", encode_record(pause), ttl_s=left_s + _STRIKES_KEPT_S)])


def source_change_key(slug: str) -> str:
    """The key of the last comparison of a skill with its source."""
    return f"{SOURCE_CHANGE_PREFIX}{slug}"


def decode_repository(key: str, value: bytes) -> RepositoryHealth:
    """What is known of a repository. Raises MalformedRecord."""
    return decode_record(key, value, decoder=_repositories)


def _decode(key: str, value: bytes) -> RepoHealth:
    return decode_record(key, value, decoder=_healths)


def _decode_change(key: str, value: bytes) -> SourceChange:
    return decode_record(key, value, decoder=_changes)
