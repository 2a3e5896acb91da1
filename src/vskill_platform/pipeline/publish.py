"""Publishing: the archives are stored, then one commit makes the version, the skill, its alias and the event.

Nothing here decides whether to publish. Doing it twice with the same bytes changes nothing but what the newest scan said.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import structlog

from vskill_platform.domain.archives import build_tar, build_zip
from vskill_platform.domain.capabilities import gained_in_words
from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.errors import InvalidInput, PublishingHeld, SlugTaken, UnreadableSkill
from vskill_platform.domain.ids import alias_key
from vskill_platform.domain.records import Submission
from vskill_platform.domain.skill import Skill, SkillVersion
from vskill_platform.domain.slug import is_pushed, skill_slug
from vskill_platform.domain.tombstone import Departure
from vskill_platform.ingest.skill_md import SkillMd
from vskill_platform.pipeline.candidate import Candidate
from vskill_platform.pipeline.releases import Archives, capability_changes, choose_version, make_skill, make_version
from vskill_platform.pipeline.second_opinions import asking_with_publication
from vskill_platform.ports.commit import Delete, Operation
from vskill_platform.stores.blocklist import clearing
from vskill_platform.stores.news import SkillNews, telling_skill
from vskill_platform.stores.skills import (
    FoundSkill,
    alias_end,
    find_skill,
    putting_published,
    renaming_away,
    withdrawing,
)
from vskill_platform.stores.tombstones import get_tombstone
from vskill_platform.stores.versions import (
    FoundVersion,
    find_versions,
    leaving_version,
    moving_version,
    putting_version,
)
from vskill_platform.worker_context import current_env

_log = structlog.get_logger(__name__)


class Publication(NamedTuple):
    """What publishing takes: operations for the commit, changes of the submission, and a sentence for its history."""

    operations: list[Operation]
    changes: dict[str, object]
    message: str
    version: SkillVersion
    is_new: bool


class _Place(NamedTuple):
    """The slug to publish under, what is there, and what this submission had published under another."""

    slug: str
    found: FoundSkill | None
    moved_from: FoundSkill | None


async def prepare_publication(candidate: Candidate) -> Publication:
    """Store the archives of the pinned bytes and say what the commit must hold.

    Raises SlugTaken, PublishingHeld for a skill in quarantine, or BytesYanked.
    """
    place = await _find_place(candidate.submission, candidate.skill_md)
    before = place.moved_from or place.found
    await _refuse_quarantined(before)
    versions = [] if before is None else await find_versions(before.skill.slug)
    number, published_at = choose_version(versions, candidate)
    archives = await _store_archives(candidate.pinned.content)
    version = make_version(
        candidate,
        archives,
        slug=place.slug,
        number=number,
        published_at=published_at,
        changes=capability_changes(versions, number, candidate.report),
    )
    skill = make_skill(version, candidate.skill_md, before)
    is_new = number not in {kept.version.version for kept in versions}
    operations = [
        *_putting_versions(place, version, versions),
        *_putting_skill(place, skill),
        telling_skill(skill, _news(skill, version, before, is_new=is_new), is_new=is_new),
        *await clearing(candidate.submission, names=candidate.names, content_digest=candidate.content_digest),
        *await asking_with_publication(candidate, slug=place.slug),
    ]
    changes: dict[str, object] = {"slug": place.slug, "version": number, "reason": None}
    return Publication(operations, changes, _sentence(version, is_new), version, is_new)


def log_gains(publication: Publication) -> None:
    """Tell the operator what a version that has just been published can do and the one before could not."""
    version = publication.version
    if publication.is_new and version.capability_changes is not None and version.capability_changes.gained:
        _log.info(
            "capabilities_gained",
            slug=version.slug,
            version=version.version,
            since=version.capability_changes.since,
            has_same_rules=version.capability_changes.has_same_rules,
            **{name: list(found) for name, found in version.capability_changes.gained.items()},
        )


async def withdrawing_published(
    submission: Submission, *, reason: str, content_digest: str | None = None
) -> list[Operation]:
    """The operations that take back what a submission has published; with a digest, only if it is those bytes."""
    found = await _find_offered(submission)
    if found is None or (content_digest is not None and found.skill.content_digest != content_digest):
        return []
    return withdrawing(found, reason=reason)


async def is_offered(submission: Submission, content_digest: str) -> bool:
    """Whether these bytes are what people get of this submission today."""
    found = await _find_offered(submission)
    return found is not None and found.skill.content_digest == content_digest


async def _find_offered(submission: Submission) -> FoundSkill | None:
    found = None if submission.slug is None else await find_skill(submission.slug)
    if found is None or found.is_withdrawn or found.skill.submission_id != submission.id:
        return None
    return found


async def _find_place(submission: Submission, skill_md: SkillMd) -> _Place:
    """The first slug that is free or this submission's own: by the name that the skill gives itself, then by its folder."""
    taken: list[str] = []
    for slug in _slugs(submission, skill_md):
        found = await find_skill(slug)
        is_ours = found is not None and found.skill.submission_id == submission.id
        is_free = found is None and await alias_end(slug) in (slug, submission.slug)
        if is_ours or is_free:
            return _Place(slug, found, await _find_former(submission, slug))
        taken.append(slug)
    raise SlugTaken(f"{' and '.join(taken)}: another skill has that name. Rename this one.", slugs=taken)


def _slugs(submission: Submission, skill_md: SkillMd) -> list[str]:
    """By the name that the skill gives itself, then by its folder's. What was pushed has the name it was pushed as."""
    slugs: list[str] = []
    given = () if is_pushed(submission.repo_url) else (skill_md.name,)
    for name in (*given, submission.skill_name):
        try:
            slugs.append(skill_slug(submission.repo_url, name or ""))
        except InvalidInput:
            continue
    if not slugs:
        raise UnreadableSkill(f"'{submission.skill_name}' has no letter a-z and no digit. Rename the skill's folder.")
    return list(dict.fromkeys(slugs))


async def _refuse_quarantined(found: FoundSkill | None) -> None:
    """A skill that somebody has put aside does not come back by itself, whatever its next version is."""
    if found is None or not found.is_withdrawn:
        return
    tombstone = await get_tombstone(found.skill.slug)
    if tombstone is not None and tombstone.kind is Departure.QUARANTINED:
        raise PublishingHeld(
            f"{found.skill.slug} is in quarantine: {tombstone.reason} Submit again when it has been restored.",
            slug=found.skill.slug,
        )


async def _find_former(submission: Submission, slug: str) -> FoundSkill | None:
    if submission.slug is None or submission.slug == slug:
        return None
    former = await find_skill(submission.slug)
    return former if former is not None and former.skill.submission_id == submission.id else None


async def _store_archives(content: SkillContent) -> Archives:
    zipped, tarred = await asyncio.to_thread(lambda: (build_zip(content), build_tar(content)))
    blobs = current_env("blobs").blobs
    zip_digest, tar_digest = await asyncio.gather(blobs.put(zipped), blobs.put(tarred))
    return Archives(zip_digest, len(zipped), tar_digest, len(tarred))


def _sentence(version: SkillVersion, is_new: bool) -> str:
    verb = "Published as" if is_new else "Its bytes are published already as"
    gained = gained_in_words(version.capability_changes) if is_new else ""
    return f"{verb} {version.slug} {version.version}. {gained}".rstrip()


def _putting_versions(place: _Place, version: SkillVersion, versions: list[FoundVersion]) -> list[Operation]:
    """The version's own record; where the skill has moved, all its earlier ones too."""
    same = next((kept for kept in versions if kept.version.version == version.version), None)
    operations = [putting_version(version, previous=None if same is None else same.value)]
    if place.moved_from is None:
        return operations
    if same is not None:
        operations.append(leaving_version(same.version))
    for kept in versions:
        if kept is not same:
            operations += moving_version(kept, to_slug=place.slug)
    return operations


def _putting_skill(place: _Place, skill: Skill) -> list[Operation]:
    """The skill's record; where it has moved, an alias in the old place and none in the new one."""
    operations = putting_published(skill, found=place.found)
    if place.moved_from is not None:
        operations += [*renaming_away(place.moved_from, to_slug=place.slug), Delete(alias_key(place.slug))]
    return operations


def _news(skill: Skill, version: SkillVersion, before: FoundSkill | None, *, is_new: bool) -> SkillNews:
    gained = version.capability_changes.gained if is_new and version.capability_changes is not None else None
    return SkillNews(
        version=version.version,
        previous_version=None if before is None else before.skill.version,
        name=skill.name or skill.slug,
        repo_url=skill.repo_url,
        publisher=skill.publisher,
        tier=skill.tier.value,
        score=skill.score,
        content_digest=version.content_digest,
        submission_id=version.submission_id,
        gained=None if gained is None else {name: len(found) for name, found in gained.items()},
    )
