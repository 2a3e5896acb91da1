"""Publishers: finding them, changing them by compare-and-set, and knowing who owns what."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from vskill_platform.domain.errors import Conflict, NotFound
from vskill_platform.domain.publisher import (
    PUBLISHER_PREFIX,
    Member,
    MemberRole,
    Publisher,
    PublisherKind,
    membership_key,
    membership_prefix,
    publisher_key,
)
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.slug import PUSHED_REPO, owner_handle
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import ABSENT, Delete, Operation, Put
from vskill_platform.stores.fresh import commit_fresh
from vskill_platform.stores.reads import Settled, list_keys, read_keys, read_prefix, require_complete
from vskill_platform.stores.records import decode_record, encode_changed, encode_record
from vskill_platform.stores.skills import alias_end, find_skill
from vskill_platform.worker_context import current_env

MAX_HANDLE_CHARS = 100
_publishers = msgspec.json.Decoder(Publisher)


class FoundPublisher(NamedTuple):
    """A publisher as it was read: the record, its bytes, and its version."""

    publisher: Publisher
    value: bytes
    version: int


async def find_publisher(handle: str) -> FoundPublisher | None:
    """The publisher that has claimed a handle, or None."""
    key = publisher_key(handle[:MAX_HANDLE_CHARS])
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else FoundPublisher(_decode(key, entry.value), entry.value, entry.version)


async def get_publisher(handle: str) -> FoundPublisher:
    """The publisher that has claimed a handle. Raises NotFound."""
    found = await find_publisher(handle)
    if found is None:
        shown = handle[:MAX_HANDLE_CHARS]
        raise NotFound(f"Nobody has claimed the publisher '{shown}'.", handle=shown)
    return found


async def owner_of(slug: str) -> Publisher | None:
    """The publisher that owns the skill that is or was published under a slug; None where nobody has proven to.

    The handle alone is not enough: the skill must come from a place whose control the publisher has shown.
    """
    slug = await alias_end(slug)
    found = await find_publisher(slug.split("/", 1)[0])
    if found is None:
        return None
    skill = await find_skill(slug)
    return found.publisher if skill is not None and comes_from(found.publisher, skill.skill) else None


async def owner_of_repository(repo_url: str) -> Publisher | None:
    """The publisher that has shown to control the owner of a repository, or None."""
    found = await find_publisher(owner_handle(repo_url))
    return found.publisher if found is not None and found.publisher.controls(repo_url) else None


async def publishers_of(account: str) -> list[Publisher]:
    """The publishers that an account is a member of or invited to, by their handles."""
    prefix = membership_prefix(account)
    keys = [key async for page in list_keys(prefix) for key in page]
    read = await read_keys([publisher_key(key.removeprefix(prefix)) for key in keys], _decode)
    return [publisher for publisher in require_complete(read) if account in publisher.accounts]


async def list_publishers() -> Settled[Publisher]:
    """Every publisher that was claimed, by handle."""
    return await read_prefix(PUBLISHER_PREFIX, _decode)


async def change_publisher(handle: str, change: Callable[[Publisher], Publisher]) -> Publisher:
    """Write what `change` makes of a publisher, again where somebody else was faster. Raises what `change` raises."""

    async def prepare() -> tuple[Publisher, list[Operation]]:
        found = await get_publisher(handle)
        changed = change(found.publisher)
        return changed, putting_publisher(changed, found=found)

    return await commit_fresh(prepare)


async def remove_publisher(handle: str) -> Publisher:
    """Let a handle be unclaimed again. What was published under it stays. Raises NotFound, or Conflict."""
    found = await get_publisher(handle)
    gone: list[Operation] = [Delete(publisher_key(handle), if_version=found.version)]
    gone += [Delete(membership_key(account, handle)) for account in sorted(found.publisher.accounts)]
    await current_env("writes").writes.commit(gone)
    return found.publisher


def make_publisher(handle: str, *, kind: PublisherKind, owner: str, place: str | None = None) -> Publisher:
    """A publisher that has just been claimed, by showing who controls a place or by pushing."""
    now = now_iso()
    member = Member(account=owner, role=MemberRole.OWNER, since=now)
    places = () if place is None else (place,)
    return Publisher(handle=handle, kind=kind, places=places, members=(member,), created_at=now, updated_at=now)


async def granting(handle: str, *, place: str, kind: PublisherKind, account: str) -> tuple[Publisher, list[Operation]]:
    """The publisher with a place that an account controls, and the operations that write it.

    Raises Conflict where the handle has owners and this account is none of them: they, or the operator, decide.
    """
    found = await find_publisher(handle)
    if found is None:
        publisher = make_publisher(handle, kind=kind, place=place, owner=account)
        return publisher, putting_publisher(publisher, found=None)
    before = found.publisher
    if before.role_of(account) is not MemberRole.OWNER:
        raise Conflict(
            f"'{handle}' has an owner already. Ask its owners to invite you, or the operator to decide.", handle=handle
        )
    places = before.places if place in before.places else (*before.places, place)
    publisher = msgspec.structs.replace(before, places=places, updated_at=now_iso())
    return publisher, putting_publisher(publisher, found=found)


def putting_publisher(publisher: Publisher, *, found: FoundPublisher | None) -> list[Operation]:
    """The operations that write a publisher in place of what was found, and the keys by which its members find it."""
    key = publisher_key(publisher.handle)
    if found is None:
        record = Put(key, encode_record(publisher), if_version=ABSENT)
    else:
        record = Put(key, encode_changed(publisher, key=key, previous=found.value), if_version=found.version)
    before = frozenset[str]() if found is None else found.publisher.accounts
    joined = [Put(membership_key(one, publisher.handle), b"{}") for one in sorted(publisher.accounts - before)]
    left = [Delete(membership_key(one, publisher.handle)) for one in sorted(before - publisher.accounts)]
    return [record, *joined, *left]


def now_iso() -> str:
    """Now, as records have it."""
    return iso_from_ms(current_env("clock").clock.now_ms())


def comes_from(publisher: Publisher, skill: Skill) -> bool:
    """Whether a skill under the publisher's handle comes from a place of theirs, or was pushed without a repository."""
    if not skill.repo_url:
        return skill.slug.split("/")[1:2] == [PUSHED_REPO]
    return publisher.controls(skill.repo_url)


def _decode(key: str, value: bytes) -> Publisher:
    return decode_record(key, value, decoder=_publishers)
