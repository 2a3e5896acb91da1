"""What the API says of published skills: plain records that the routes fill."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec

from vskill_platform.domain.capabilities import CapabilityChanges
from vskill_platform.domain.comparison import FileChange
from vskill_platform.domain.content import Omitted
from vskill_platform.domain.repo_health import RepoStatus
from vskill_platform.domain.scan import Capabilities, Finding
from vskill_platform.domain.skill import PublishedSkillSummary, VersionFile
from vskill_platform.domain.tombstone import Departure
from vskill_platform.stores.counts import SkillCounts
from vskill_platform.web.source_words import SourceHealth

MAX_CHECKED = 500
MAX_REPORTED = 100
Slug = Annotated[str, msgspec.Meta(min_length=1, max_length=400)]


class TombstoneView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A slug that nothing is published under any more: `withdrawn` with a reason, or `renamed` to another slug."""

    slug: str
    kind: Departure
    at: str
    reason: str
    to: str


class ListedSkill(PublishedSkillSummary, frozen=True, kw_only=True, rename="camel", gc=False):
    """A skill in a list. `sourceStatus` is how its repository is; null where nobody has looked, or knows."""

    source_status: RepoStatus | None = None


class SkillList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One page of published skills.

    With `updatedSince`, `total` is null, because nobody counts it, and there are `tombstones`, `until` (to come back with)
    and `hasMore` (whether to come back at once).
    """

    skills: list[ListedSkill]
    total: int | None
    limit: int
    offset: int
    counts: dict[str, dict[str, int]]
    tombstones: list[TombstoneView] | None = None
    until: str | None = None
    has_more: bool | None = None


class SkillDetail(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A published skill: its newest version, how it was judged, what it can do, and what was counted of it."""

    slug: str
    name: str
    description: str
    publisher: str
    category: str
    license: str
    version: str
    tier: str
    verdict: str
    score: int
    ruleset_version: str
    repo_url: str
    skill_path: str
    commit: str
    source_url: str | None
    content_digest: str
    published_at: str
    updated_at: str
    submission_id: str
    capabilities: Capabilities
    counts: SkillCounts
    versions: int
    health: SourceHealth | None
    links: dict[str, str]


class ArchiveView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An archive of a version, and where it is."""

    digest: str
    size: int
    url: str


class VersionDetail(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a version is, and will always be, but that it may be yanked. How it is judged: the security report has that."""

    slug: str
    version: str
    name: str
    description: str
    published_at: str
    repo_url: str
    skill_path: str
    commit: str
    source_url: str | None
    content_digest: str
    zip: ArchiveView
    tar: ArchiveView
    files: tuple[VersionFile, ...]
    omitted: tuple[Omitted, ...]
    capability_changes: CapabilityChanges | None
    yanked_at: str
    yank_reason: str


class VersionRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One version in the list of all, as it is judged now. One that was yanked says when and why; its bytes answer 410."""

    version: str
    published_at: str
    tier: str
    verdict: str
    score: int
    commit: str
    content_digest: str
    ruleset_version: str
    zip_digest: str
    zip_size: int
    tar_digest: str
    tar_size: int
    capability_changes: CapabilityChanges | None
    yanked_at: str
    yank_reason: str


class VersionList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Every version of a skill, newest first."""

    slug: str
    versions: list[VersionRow]
    total: int


class Comparison(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What differs between two versions: files, and what the skill can do."""

    slug: str
    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    files: list[FileChange]
    capabilities: CapabilityChanges


class SecurityReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How a version was judged. `findings` and `limitsHit` are null where the report itself is no longer kept."""

    slug: str
    version: str
    tier: str
    verdict: str
    score: int
    content_digest: str
    ruleset_version: str
    scanner_version: str
    scanned_at: str
    capabilities: Capabilities
    findings: tuple[Finding, ...] | None
    limits_hit: tuple[str, ...] | None


class CapabilityReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a version can do as far as the scan saw, and what it can do that the one before could not."""

    slug: str
    version: str
    ruleset_version: str
    capabilities: Capabilities
    capability_changes: CapabilityChanges | None


class BadgeEndpoint(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A badge in the form that shields.io draws."""

    schema_version: int = 1
    label: str
    message: str
    color: str
    is_error: bool = False
    cache_seconds: int = 300


class CountsView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What was counted of a skill so far."""

    slug: str
    installs: int
    downloads: int
    stars: int
    update_checks: int


class InstallReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Skills that a client has installed."""

    skills: Annotated[list[Slug], msgspec.Meta(min_length=1, max_length=MAX_REPORTED)]


class InstallOutcome(StrEnum):
    """What became of one report of an install."""

    COUNTED = "counted"
    UNKNOWN = "unknown"
    WITHDRAWN = "withdrawn"
    LIMITED = "limited"


class InstallAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What became of each report, by the slug that was given."""

    outcomes: dict[str, InstallOutcome]


class InstalledSkill(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A skill that a client has: which version, or which bytes, as far as it knows."""

    slug: Slug
    version: Annotated[str, msgspec.Meta(max_length=64)] = ""
    content_digest: Annotated[str, msgspec.Meta(max_length=80)] = ""


class UpdateCheck(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Skills that a client has and wants to keep up to date."""

    skills: Annotated[list[InstalledSkill], msgspec.Meta(min_length=1, max_length=MAX_CHECKED)]


class UpdateStatus(StrEnum):
    """How an installed skill stands against what is published."""

    CURRENT = "current"
    OUTDATED = "outdated"
    YANKED = "yanked"
    WITHDRAWN = "withdrawn"
    UNKNOWN = "unknown"


class UpdateView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How one installed skill stands. `slug` is what was asked for, `currentSlug` what it is called now."""

    slug: str
    status: UpdateStatus
    current_slug: str | None = None
    version: str | None = None
    content_digest: str | None = None
    capability_changes: CapabilityChanges | None = None
    reason: str | None = None


class UpdateList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How each installed skill stands, in the order that they were asked for."""

    skills: list[UpdateView]


class StarView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Whether this visitor has starred the skill, and how many have."""

    slug: str
    is_starred: bool
    stars: int


class PublisherView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Somebody who has published skills, and how many."""

    name: str
    skills: int


class PublisherList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One page of publishers."""

    publishers: list[PublisherView]
    total: int
    limit: int
    offset: int


class PublisherDetail(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A publisher, and a page of their skills."""

    name: str
    skills: list[PublishedSkillSummary]
    total: int
    limit: int
    offset: int
    counts: dict[str, dict[str, int]]
