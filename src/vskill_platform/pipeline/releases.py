"""What a publication writes down: the version, the skill's summary, and what changed since the version before."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from vskill_platform.domain.capabilities import CapabilityChanges, compare, kinds_of
from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.scan import ScanReport
from vskill_platform.domain.skill import Skill, SkillVersion, VersionFile
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.domain.versions import next_version
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
    """The number of these bytes, and when it was first published: the newest version's if they are its bytes."""
    if not versions:
        return next_version(None, declared=candidate.skill_md.version), _now()
    newest = versions[0].version
    if newest.content_digest == candidate.content_digest:
        return newest.version, newest.published_at
    taken = [kept.version.version for kept in versions]
    return next_version(newest.version, declared=candidate.skill_md.version, taken=taken), _now()


def capability_changes(versions: list[FoundVersion], number: str, report: ScanReport) -> CapabilityChanges | None:
    """What these bytes can do and the version before could not. What was said when a version came stays with it."""
    same = next((kept.version for kept in versions if kept.version.version == number), None)
    if same is not None:
        return same.capability_changes
    if not versions:
        return None
    before = versions[0].version
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
    return Skill(
        slug=version.slug,
        name=version.name,
        repo_url=version.repo_url,
        description=version.description,
        category=skill_md.metadata.get("category", "")[:MAX_NAME_CHARS],
        publisher=version.slug.split("/", 1)[0],
        version=version.version,
        tier=version.tier,
        score=version.score,
        published_at=version.published_at if before is None else before.skill.published_at,
        updated_at=version.updated_at,
        submission_id=version.submission_id,
        skill_path=version.skill_path,
        content_digest=version.content_digest,
        commit=version.commit,
        license=(skill_md.license or "")[:MAX_NAME_CHARS],
        ruleset_version=version.ruleset_version,
        verdict=version.verdict.value,
        capabilities=kinds_of(version.capabilities),
        installs=0 if before is None else before.skill.installs,
    )


def _now() -> str:
    return iso_from_ms(current_env("clock").clock.now_ms())
