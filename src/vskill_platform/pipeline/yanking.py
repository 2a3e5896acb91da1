"""Taking a version or a whole skill out of people's hands, and giving it back. Nothing is deleted, and everything says why.

A version that is yanked is not handed out any more, and what people get is the highest version that is left; with the last
one the skill goes. A skill in quarantine is out of lists and installs at once, and nothing is published under its slug
until somebody restores it. Each of these is one commit that is held to the skill's record as it was read, so that nothing
else that happens to the skill at that moment is lost.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

import msgspec
import structlog

from vskill_platform.domain.errors import Conflict, IllegalTransition, InvalidInput, NotFound
from vskill_platform.domain.ids import submission_key
from vskill_platform.domain.skill import Skill, SkillVersion, newest_offered, yanked_numbers
from vskill_platform.domain.submission import CATEGORY_OF, Category
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.domain.tombstone import Departure
from vskill_platform.pipeline.releases import summarise
from vskill_platform.ports.commit import Check, Emit, Operation
from vskill_platform.stores.blocklist import clearing, find_block
from vskill_platform.stores.skills import (
    FoundSkill,
    alias_end,
    changing,
    find_skill,
    putting_published,
    putting_withdrawn,
    withdrawing,
)
from vskill_platform.stores.submissions import find_submission
from vskill_platform.stores.tombstones import get_tombstone
from vskill_platform.stores.versions import FoundVersion, changing_version, find_versions
from vskill_platform.worker_context import current_env

_TRIES = 5
_OUT = (Category.REJECTED, Category.BLOCKED)
T = TypeVar("T")
_log = structlog.get_logger(__name__)


class Yanked(NamedTuple):
    """A version that was yanked or restored, and the version that people get now; None where the skill has gone with it."""

    slug: str
    version: str
    latest: str | None


class _Standing(NamedTuple):
    """A skill as it was read, with all its versions, and how it left the registry if it did."""

    found: FoundSkill
    versions: list[FoundVersion]
    departure: Departure | None

    @property
    def slug(self) -> str:
        return self.found.skill.slug


async def yank_version(slug: str, version: str, *, reason: str, by: str) -> Yanked:
    """Hand a version out no more. Raises NotFound, InvalidInput without a reason, or IllegalTransition if it is yanked."""
    said = _require(reason)
    return await _again_where_faster(lambda: _yank(slug, version, reason=said, by=by))


async def restore_version(slug: str, version: str, *, reason: str, by: str) -> Yanked:
    """Hand a yanked version out again. Raises IllegalTransition where the blocklist or a later scan stands against its bytes."""
    said = _require(reason)
    return await _again_where_faster(lambda: _restore_version(slug, version, reason=said, by=by))


async def quarantine_skill(slug: str, *, reason: str, by: str) -> Skill:
    """Take a skill out of lists and installs until it is restored. Raises NotFound, or IllegalTransition if it is out."""
    said = _require(reason)
    return await _again_where_faster(lambda: _quarantine(slug, reason=said, by=by))


async def restore_skill(slug: str, *, reason: str, by: str) -> Skill:
    """End a quarantine. Raises IllegalTransition where the blocklist or a later scan stands against what would be published."""
    said = _require(reason)
    return await _again_where_faster(lambda: _restore_skill(slug, reason=said, by=by))


async def _yank(slug: str, number: str, *, reason: str, by: str) -> Yanked:
    standing = await _read(slug)
    target = _version_of(standing, number)
    if target.version.is_yanked:
        raise IllegalTransition(
            f"{standing.slug} {number} is yanked already: {target.version.yank_reason}", version=number
        )
    mark = {"yanked_at": _now(), "yank_reason": reason, "yanked_by": by}
    skill, latest = _summary(standing, target, **mark)
    operations = [changing_version(target, **mark)]
    found = changing(standing.found, skill)
    if standing.found.is_withdrawn:
        operations += [putting_withdrawn(found)]
    elif latest is None:
        operations += withdrawing(found, reason=f"Every version is yanked. {reason}", kind=Departure.YANKED, by=by)
    else:
        operations += putting_published(skill, found=standing.found)
    told = {"version": number, "reason": reason, "latest": latest}
    await _commit([*operations, Emit("version.yanked", standing.slug, msgspec.json.encode(told))])
    _log.warning("version_yanked", slug=standing.slug, version=number, reason=reason, by=by, latest=latest)
    return Yanked(standing.slug, number, latest)


async def _restore_version(slug: str, number: str, *, reason: str, by: str) -> Yanked:
    standing = await _read(slug)
    target = _version_of(standing, number)
    if not target.version.is_yanked:
        raise IllegalTransition(f"{standing.slug} {number} is not yanked.", version=number)
    mark = {"yanked_at": "", "yank_reason": "", "yanked_by": ""}
    skill, latest = _summary(standing, target, **mark)
    operations = [changing_version(target, **mark), *await _allowing(skill, target.version)]
    if standing.departure in (None, Departure.YANKED):
        operations += putting_published(skill, found=standing.found)
    else:
        operations += [putting_withdrawn(changing(standing.found, skill))]
    told = {"version": number, "latest": latest}
    await _commit([*operations, Emit("version.restored", standing.slug, msgspec.json.encode(told))])
    _log.warning("version_restored", slug=standing.slug, version=number, reason=reason, by=by)
    return Yanked(standing.slug, number, latest)


async def _quarantine(slug: str, *, reason: str, by: str) -> Skill:
    standing = await _read(slug)
    if standing.found.is_withdrawn:
        how = "withdrawn" if standing.departure is None else standing.departure.value
        raise IllegalTransition(f"'{standing.slug}' is {how}: nobody can get it as it is.", slug=standing.slug)
    await _commit(withdrawing(standing.found, reason=reason, kind=Departure.QUARANTINED, by=by))
    _log.warning("skill_quarantined", slug=standing.slug, reason=reason, by=by)
    return standing.found.skill


async def _restore_skill(slug: str, *, reason: str, by: str) -> Skill:
    standing = await _read(slug)
    if standing.departure is not Departure.QUARANTINED:
        raise IllegalTransition(f"'{standing.slug}' is not in quarantine.", slug=standing.slug)
    offered = newest_offered(kept.version for kept in standing.versions)
    if offered is None:
        raise IllegalTransition(
            f"Every version of '{standing.slug}' is yanked. Restore a version first.", slug=standing.slug
        )
    skill = msgspec.structs.replace(summarise(offered, standing.found.skill), updated_at=_now())
    told = Emit("skill.restored", standing.slug, msgspec.json.encode({"version": offered.version}))
    await _commit([*putting_published(skill, found=standing.found), *await _allowing(skill, offered), told])
    _log.warning("skill_restored", slug=standing.slug, reason=reason, by=by)
    return skill


def _summary(standing: _Standing, target: FoundVersion, **mark: str) -> tuple[Skill, str | None]:
    """The skill's record once one of its versions is marked so, and the version that people get then."""
    marked = msgspec.structs.replace(target.version, **mark)
    versions = [marked if kept is target else kept.version for kept in standing.versions]
    offered = newest_offered(versions)
    shown = summarise(offered or marked, standing.found.skill)
    skill = msgspec.structs.replace(shown, updated_at=_now(), yanked_versions=yanked_numbers(versions))
    return skill, None if offered is None else offered.version


async def _allowing(skill: Skill, version: SkillVersion) -> list[Operation]:
    """The operations by which a commit gives bytes back only if nothing stands against them by then. Raises IllegalTransition."""
    found = await find_submission(version.submission_id)
    if found is None:
        return []
    submission, digest = found.submission, version.content_digest
    block = await find_block(submission, names=[skill.name], content_digest=digest)
    if block is not None:
        raise IllegalTransition(
            f"The blocklist stands against it by its {block.kind.value}: {block.reason} Unblock it first."
        )
    is_same = submission.pin is not None and submission.pin.content_digest == digest
    if is_same and CATEGORY_OF[submission.state] in _OUT:
        raise IllegalTransition(
            f"Its bytes were turned down since ({submission.state.value}). Approve the submission {submission.id} first.",
            id=submission.id,
        )
    checked = await clearing(submission, names=[skill.name], content_digest=digest)
    return [*checked, Check(submission_key(submission.id), found.version)]


async def _read(slug: str) -> _Standing:
    found = await find_skill(await alias_end(slug))
    if found is None:
        raise NotFound(f"There is no skill '{slug}', and there was none.", slug=slug)
    tombstone = await get_tombstone(found.skill.slug) if found.is_withdrawn else None
    kind = Departure.WITHDRAWN if found.is_withdrawn else None
    return _Standing(found, await find_versions(found.skill.slug), kind if tombstone is None else tombstone.kind)


def _version_of(standing: _Standing, number: str) -> FoundVersion:
    for kept in standing.versions:
        if kept.version.version == number:
            return kept
    raise NotFound(f"{standing.slug} has no version '{number[:60]}'.", slug=standing.slug, version=number[:60])


async def _again_where_faster(work: Callable[[], Awaitable[T]]) -> T:
    """Do it, and once more from the start where somebody else has changed the skill meanwhile."""
    for _ in range(_TRIES - 1):
        try:
            return await work()
        except Conflict:
            continue
    return await work()


async def _commit(operations: list[Operation]) -> None:
    await current_env("writes").writes.commit(operations)


def _require(reason: str) -> str:
    if not reason.strip():
        raise InvalidInput("Say why: everybody who meets it is told the reason.")
    return reason.strip()


def _now() -> str:
    return iso_from_ms(current_env("clock").clock.now_ms())
