"""What differs between two versions, as the original tells it: SKILL.md alone, or every file with counts of lines."""

from __future__ import annotations

import msgspec

from vskill_platform.domain.comparison import FileChange, FileChangeKind
from vskill_platform.domain.content import SKILL_FILE_NAMES
from vskill_platform.domain.errors import InvalidInput
from vskill_platform.domain.skill import Skill, SkillVersion
from vskill_platform.domain.slug import DEFAULT_HOST, split_repository_url
from vskill_platform.web.api.skill_lookup import published_version
from vskill_platform.web.api.skill_views import Comparison
from vskill_platform.web.api.versions import compare_versions

_STATUS = {
    FileChangeKind.ADDED: "added",
    FileChangeKind.REMOVED: "removed",
    FileChangeKind.CHANGED: "modified",
    FileChangeKind.MODE: "modified",
}


class VersionDiff(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """How SKILL.md differs, and in a sentence what else does."""

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    diff_summary: str
    content_diff: str


class ComparedFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A file that differs. One that is no text, or too long a one, has no patch."""

    filename: str
    status: str
    additions: int
    deletions: int
    patch: str | None = None


class ComparedVersions(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Every file that differs, by the bytes that are kept here."""

    source: str
    base_sha: str | None = None
    head_sha: str | None = None
    files: list[ComparedFile]
    github_compare_url: str | None = None


async def diff_for_client(skill: Skill, source: str, target: str) -> VersionDiff:
    """How the two versions' SKILL.md differ."""
    compared, _, _ = await _compare(skill, source, target)
    document = next((change for change in compared.files if change.path in SKILL_FILE_NAMES), None)
    return VersionDiff(
        source=compared.source,
        target=compared.target,
        diff_summary=summarise(compared.files),
        content_diff=(document.diff or "") if document is not None else "",
    )


async def compare_for_client(skill: Skill, source: str, target: str) -> ComparedVersions:
    """How all files of the two versions differ."""
    compared, before, after = await _compare(skill, source, target)
    return ComparedVersions(
        source="local-content",
        base_sha=before.commit or None,
        head_sha=after.commit or None,
        files=[_file(change) for change in compared.files],
        github_compare_url=_compare_url(skill.repo_url, before.commit, after.commit),
    )


def summarise(changes: list[FileChange]) -> str:
    """How many files came, went and changed."""
    kinds = [_STATUS[change.change] for change in changes]
    told = [f"{kinds.count(kind)} {kind}" for kind in ("added", "removed", "modified") if kind in kinds]
    return f"{', '.join(told)}: {', '.join(change.path for change in changes[:10])}" if told else "No file differs."


async def _compare(skill: Skill, source: str, target: str) -> tuple[Comparison, SkillVersion, SkillVersion]:
    if not source or not target:
        raise InvalidInput("Say which versions to compare: from=1.0.0&to=1.1.0.")
    before, after = await published_version(skill, source), await published_version(skill, target)
    return await compare_versions(before, after), before, after


def _file(change: FileChange) -> ComparedFile:
    lines = (change.diff or "").splitlines()
    added = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
    deleted = sum(line.startswith("-") and not line.startswith("---") for line in lines)
    return ComparedFile(
        filename=change.path, status=_STATUS[change.change], additions=added, deletions=deleted, patch=change.diff
    )


def _compare_url(repo_url: str, before: str, after: str) -> str | None:
    if not before or not after or split_repository_url(repo_url).host != DEFAULT_HOST:
        return None
    return f"{repo_url.removesuffix('.git')}/compare/{before}...{after}"
