"""What a publication writes down: the version, the skill's summary, and what changed since the version before."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import msgspec

from vskill_platform.domain.capabilities import CapabilityChanges, compare, kinds_of
from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.errors import BytesYanked, VersionTaken
from vskill_platform.domain.scan import ScanReport
from vskill_platform.domain.skill import Skill, SkillVersion, VersionFile, newest_offered
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.domain.versions import next_version, version_order
from vskill_platform.ingest.skill_md import SkillMd
from vskill_platform.pipeline.candidate import Candidate
from vskill_platform.stores.skills import FoundSkill
from vskill_platform.stores.versions import FoundVersion
from vskill_platform.worker_context import current_env

MAX_DESCRIPTION_CHARS = 4096
MAX_NAME_CHARS = 200


class Archives(NamedTuple):
    """The two archives of a skill, stored."""

    zip_digest: str
    zip_size: int
    tar_digest: str
    tar_size: int


def choose_version(versions: list[FoundVersion], candidate: Candidate) -> tuple[str, str]:
    """The number of these bytes, and when it was first published: that of the version people get if they are its bytes.

    Raises BytesYanked for bytes that were published and are not to be had any more, or VersionTaken for what was pushed as a
    version that cannot be its own.
    """
    if candidate.pinned.pin.version:
        return _choose_pushed(versions, candidate)
    if not versions:
        return next_version(None, declared=candidate.skill_md.version), _now()
    offered = newest_offered(kept.version for kept in versions)
    if offered is not None and offered.content_digest == candidate.content_digest:
        return offered.version, offered.published_at
    _refuse_yanked_bytes(versions, candidate.content_digest)
    taken = [kept.version.version for kept in versions]
    return next_version(versions[0].version.version, declared=candidate.skill_md.version, taken=taken), _now()


def _choose_pushed(versions: list[FoundVersion], candidate: Candidate) -> tuple[str, str]:
    number = candidate.pinned.pin.version
    same = refuse_taken_version([kept.version for kept in versions], number, candidate.content_digest)
    if same is not None:
        return number, same.published_at
    _refuse_yanked_bytes(versions, candidate.content_digest)
    return number, _now()


def refuse_taken_version(versions: list[SkillVersion], number: str, digest: str) -> SkillVersion | None:
    """The version of this number if it has these bytes, None where the number is free. `versions` come newest first.

    Raises VersionTaken for one that has other bytes, is yanked, or is lower than the newest there is.
    """
    same = next((version for version in versions if version.version == number), None)
    if same is None and (not versions or version_order(number) > version_order(versions[0].version)):
        return None
    if same is not None and same.content_digest == digest and not same.is_yanked:
        return same
    slug, newest = versions[0].slug, versions[0].version
    why = (
        f"is not higher than {newest}" if same is None else "is yanked" if same.is_yanked else "exists with other bytes"
    )
    raise VersionTaken(
        f"{slug} {number} {why}. Push it as a version that is higher than {newest}.",
        slug=slug,
        version=number,
        newest=newest,
    )


def _refuse_yanked_bytes(versions: list[FoundVersion], digest: str) -> None:
    """Coming again with the same bytes is no way around a yank. Other bytes are another version."""
    for version in (kept.version for kept in versions):
        if version.is_yanked and version.content_digest == digest:
            raise BytesYanked(
                f"These bytes are {version.slug} {version.version}, which was yanked: {version.yank_reason} "
                "Change the skill, or ask for the version to be restored.",
                slug=version.slug,
                version=version.version,
            )


def capability_changes(versions: list[FoundVersion], number: str, report: ScanReport) -> CapabilityChanges | None:
    """What these bytes can do and the version before could not. What was said when a version came stays with it."""
    same = next((kept.version for kept in versions if kept.version.version == number), None)
    if same is not None:
        return same.capability_changes
    if not versions:
        return None
    before = newest_offered(kept.version for kept in versions) or versions[0].version
    has_same_rules = before.ruleset_version == report.ruleset_version
    return compare(before.capabilities, report.capabilities, since=before.version, has_same_rules=has_same_rules)


def make_version(
    candidate: Candidate,
    archives: Archives,
    *,
    slug: str,
    number: str,
    published_at: str,
    changes: CapabilityChanges | None,
) -> SkillVersion:
    """The record of a version."""
    submission, pinned, skill_md, report, tier = candidate
    return SkillVersion(
        slug=slug,
        version=number,
        name=(skill_md.name or submission.skill_name)[:MAX_NAME_CHARS],
        description=(skill_md.description or "")[:MAX_DESCRIPTION_CHARS],
        repo_url=submission.repo_url,
        skill_path=submission.skill_path,
        commit=pinned.pin.commit,
        content_digest=pinned.pin.content_digest,
        zip_digest=archives.zip_digest,
        zip_size=archives.zip_size,
        tar_digest=archives.tar_digest,
        tar_size=archives.tar_size,
        files=tuple(_describe(pinned.content)),
        omitted=pinned.pin.omitted,
        tier=tier,
        verdict=report.verdict,
        score=report.score,
        ruleset_version=report.ruleset_version,
        scanner_version=report.scanner_version,
        capabilities=report.capabilities,
        capability_changes=changes,
        submission_id=submission.id,
        run=submission.run,
        published_at=published_at,
        updated_at=_now(),
    )


def _describe(content: SkillContent) -> list[VersionFile]:
    return [
        VersionFile(
            path=file.path,
            size=len(file.content),
            sha256=hashlib.sha256(file.content).hexdigest(),
            executable=file.executable,
        )
        for file in content.files
    ]


def make_skill(version: SkillVersion, skill_md: SkillMd, before: FoundSkill | None) -> Skill:
    """The skill's record: the summary of its newest version."""
    before_it = Skill() if before is None else before.skill
    described = msgspec.structs.replace(
        before_it,
        category=skill_md.metadata.get("category", "")[:MAX_NAME_CHARS],
        license=(skill_md.license or "")[:MAX_NAME_CHARS],
        published_at=before_it.published_at or version.published_at,
    )
    return summarise(version, described)


def summarise(version: SkillVersion, skill: Skill) -> Skill:
    """The skill's record as the summary of one of its versions; what a version does not know stays as it was."""
    return msgspec.structs.replace(
        skill,
        slug=version.slug,
        name=version.name,
        repo_url=version.repo_url,
        description=version.description,
        publisher=version.slug.split("/", 1)[0],
        version=version.version,
        tier=version.tier,
        score=version.score,
        updated_at=version.updated_at,
        submission_id=version.submission_id,
        skill_path=version.skill_path,
        content_digest=version.content_digest,
        commit=version.commit,
        ruleset_version=version.ruleset_version,
        verdict=version.verdict.value,
        capabilities=kinds_of(version.capabilities),
    )


def _now() -> str:
    return iso_from_ms(current_env("clock").clock.now_ms())
