"""The records that the registry keeps about published skills, as far as lists and names need them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from vskill_platform.domain.capabilities import CapabilityChanges
from vskill_platform.domain.content import Omitted
from vskill_platform.domain.records import Record
from vskill_platform.domain.scan import Capabilities, Verdict
from vskill_platform.domain.versions import version_order

MOST_YANKED_TOLD = 20


class CertTier(StrEnum):
    """How far a skill was verified."""

    SCANNED = "SCANNED"
    VERIFIED = "VERIFIED"
    CERTIFIED = "CERTIFIED"


class Skill(Record, frozen=True, kw_only=True, rename="camel"):
    """A published skill: the newest version's summary. Older records may lack what has a default here.

    `capabilities` are the kinds of what it can do. `installs` is as of the last time that installs were counted.
    `yanked_versions` are the newest of those that are no longer offered.
    """

    slug: str = ""
    name: str = ""
    repo_url: str = ""
    description: str = ""
    category: str = ""
    publisher: str = ""
    version: str = ""
    tier: CertTier = CertTier.SCANNED
    score: int = 0
    published_at: str = ""
    updated_at: str = ""
    submission_id: str = ""
    skill_path: str = ""
    content_digest: str = ""
    commit: str = ""
    license: str = ""
    ruleset_version: str = ""
    verdict: str = ""
    capabilities: tuple[str, ...] = ()
    installs: int = 0
    yanked_versions: tuple[str, ...] = ()


class VersionFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One file of a version."""

    path: str
    size: int
    sha256: str
    executable: bool = False


class SkillVersion(Record, frozen=True, kw_only=True, rename="camel"):
    """One published version: where its bytes came from, what they are, and what the scan said of them.

    `capability_changes` compares it with the version before, as both were seen when it was published; the first has none.
    A version that was yanked says since when, why, and which account did it; its bytes are kept and not handed out.
    """

    slug: str
    version: str
    name: str
    description: str
    repo_url: str
    skill_path: str
    commit: str
    content_digest: str
    zip_digest: str
    zip_size: int
    tar_digest: str
    tar_size: int
    files: tuple[VersionFile, ...]
    omitted: tuple[Omitted, ...] = ()
    tier: CertTier
    verdict: Verdict
    score: int
    ruleset_version: str
    scanner_version: str
    capabilities: Capabilities
    capability_changes: CapabilityChanges | None = None
    submission_id: str
    run: int
    published_at: str
    updated_at: str
    yanked_at: str = ""
    yank_reason: str = ""
    yanked_by: str = ""

    @property
    def is_yanked(self) -> bool:
        """Whether it is no longer offered to anybody."""
        return bool(self.yanked_at)


def newest_offered(versions: Iterable[SkillVersion]) -> SkillVersion | None:
    """The version that people get: the highest that is not yanked, or None where all are."""
    offered = [version for version in versions if not version.is_yanked]
    return max(offered, key=lambda version: version_order(version.version), default=None)


def yanked_numbers(versions: Iterable[SkillVersion]) -> tuple[str, ...]:
    """The numbers of yanked versions, newest first, as many as lists can afford to say."""
    yanked = [version.version for version in versions if version.is_yanked]
    return tuple(sorted(yanked, key=version_order, reverse=True)[:MOST_YANKED_TOLD])


class PublishedSkillSummary(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """What an enumeration of published skills gives for each."""

    slug: str
    name: str
    repo_url: str
    description: str = ""
    version: str = ""
    tier: str = CertTier.SCANNED.value
    score: int = 0
    updated_at: str = ""
    published_at: str = ""
    publisher: str = ""
    category: str = ""
    verdict: str = ""
    capabilities: tuple[str, ...] = ()
    installs: int = 0
    yanked_versions: tuple[str, ...] = ()
