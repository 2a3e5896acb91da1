"""What a registry says, as far as this client reads it. Words of newer registries are taken as text and not refused."""

from __future__ import annotations

import msgspec

from vskill_platform.domain.capabilities import CapabilityChanges
from vskill_platform.domain.scan import Capabilities
from vskill_platform.domain.skill import PublishedSkillSummary, VersionFile


class SearchAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Skills that match, and how many there are in all."""

    skills: list[PublishedSkillSummary]
    total: int | None = None


class CollectedSkill(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A skill behind a private path, in the version that people are to have."""

    slug: str
    status: str
    version: str | None = None
    name: str = ""
    description: str = ""


class CollectionAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What is behind a private path."""

    skills: list[CollectedSkill]


class SkillAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A published skill: its newest version, how it was judged, and what it can do."""

    slug: str
    name: str
    description: str
    version: str
    tier: str
    verdict: str
    score: int
    content_digest: str
    repo_url: str
    commit: str
    published_at: str
    updated_at: str
    publisher: str = ""
    license: str = ""
    capabilities: Capabilities = msgspec.field(default_factory=Capabilities)
    versions: int = 0


class ArchiveAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An archive of a version."""

    digest: str
    size: int


class VersionAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a version is: its bytes, where they came from, and whether it was yanked."""

    slug: str
    version: str
    name: str
    repo_url: str
    content_digest: str
    tar: ArchiveAnswer
    files: tuple[VersionFile, ...]
    capability_changes: CapabilityChanges | None = None
    yanked_at: str = ""
    yank_reason: str = ""


class VersionRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One version in the list of all."""

    version: str
    published_at: str
    tier: str
    verdict: str
    score: int
    content_digest: str
    yanked_at: str = ""
    yank_reason: str = ""


class VersionListAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Every version of a skill, newest first."""

    versions: list[VersionRow]


class FindingAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One rule that hit one file: where, why that matters, and what to do about it."""

    rule_id: str
    severity: str
    file: str
    line: int
    message: str
    why: str = ""
    fix: str = ""
    excerpt: str = ""
    context: str = ""


class SecurityAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How a version was judged. `findings` is null where the report itself is no longer kept."""

    slug: str
    version: str
    tier: str
    verdict: str
    score: int
    content_digest: str
    ruleset_version: str = ""
    scanned_at: str = ""
    capabilities: Capabilities = msgspec.field(default_factory=Capabilities)
    findings: tuple[FindingAnswer, ...] | None = None
    limits_hit: tuple[str, ...] | None = None


class BlockEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An entry of the blocklist: by what it stands against a skill, and why."""

    kind: str
    reason: str
    created_at: str = ""


class BlockAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What stands against a skill."""

    blocked: bool
    entries: list[BlockEntry]


class UpdateAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How an installed skill stands against what is published."""

    slug: str
    status: str
    current_slug: str | None = None
    version: str | None = None
    content_digest: str | None = None
    capability_changes: CapabilityChanges | None = None
    reason: str | None = None


class UpdateListAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How each of them stands, in the order that they were asked for."""

    skills: list[UpdateAnswer]


class ChangedFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A file that differs between two versions."""

    path: str
    change: str


class ComparisonAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What differs between two versions."""

    files: list[ChangedFile]


class SubmittedAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What became of the wish to have a repository verified."""

    status: str
    id: str
    state: str
    repo_url: str
    skill_name: str = ""
    reason: str | None = None
