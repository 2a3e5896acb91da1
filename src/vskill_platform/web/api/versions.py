"""Versions of a skill: all of them, one of them, and what differs between two."""

from __future__ import annotations

import asyncio
from typing import Annotated

from litestar import Response, get
from litestar.params import FromPath, QueryParameter

from vskill_platform.domain.capabilities import compare
from vskill_platform.domain.comparison import compare_contents
from vskill_platform.domain.skill import SkillVersion
from vskill_platform.domain.source_link import source_link
from vskill_platform.stores.contents import read_content
from vskill_platform.stores.versions import get_versions
from vskill_platform.web.api.skill_lookup import (
    FRESH,
    SKILL,
    SKILLS,
    published_skill,
    published_version,
)
from vskill_platform.web.api.skill_views import ArchiveView, Comparison, VersionDetail, VersionList, VersionRow

From = Annotated[str, QueryParameter(name="from", max_length=64, description="The version to compare from.")]
To = Annotated[str, QueryParameter(name="to", max_length=64, description="The version to compare to.")]


@get(f"{SKILL}/versions", summary="Every version of a skill", tags=["skills"])
async def list_versions(owner: FromPath[str], repo: FromPath[str], skill: FromPath[str]) -> Response[VersionList]:
    """Newest first, each as it is judged now."""
    found = await published_skill(owner, repo, skill)
    versions = await get_versions(found.slug)
    rows = [VersionRow(**{name: getattr(one, name) for name in VersionRow.__struct_fields__}) for one in versions]
    return Response(VersionList(slug=found.slug, versions=rows, total=len(rows)), headers=FRESH)


@get(f"{SKILL}/versions/{{version:str}}", summary="One version of a skill", tags=["skills"])
async def show_version(
    owner: FromPath[str], repo: FromPath[str], skill: FromPath[str], version: FromPath[str]
) -> Response[VersionDetail]:
    """What a version is: its bytes, where they came from, what came new with it, and whether it was yanked."""
    found = await published_skill(owner, repo, skill)
    return Response(describe_version(await published_version(found, version)), headers=FRESH)


def describe_version(version: SkillVersion) -> VersionDetail:
    """All that is told of a version; nothing of it changes but whether it is yanked."""
    place = f"{SKILLS}/{version.slug}/versions/{version.version}"
    return VersionDetail(
        slug=version.slug,
        version=version.version,
        name=version.name,
        description=version.description,
        published_at=version.published_at,
        repo_url=version.repo_url,
        skill_path=version.skill_path,
        commit=version.commit,
        source_url=source_link(version.repo_url, commit=version.commit, path=version.skill_path),
        content_digest=version.content_digest,
        zip=ArchiveView(digest=version.zip_digest, size=version.zip_size, url=f"{place}/archive.zip"),
        tar=ArchiveView(digest=version.tar_digest, size=version.tar_size, url=f"{place}/archive.tar"),
        files=version.files,
        omitted=version.omitted,
        capability_changes=version.capability_changes,
        yanked_at=version.yanked_at,
        yank_reason=version.yank_reason,
    )


@get(f"{SKILL}/versions/compare", summary="What differs between two versions", tags=["skills"])
async def show_comparison(
    owner: FromPath[str], repo: FromPath[str], skill: FromPath[str], source: From, target: To
) -> Response[Comparison]:
    """Files that were added, removed or changed, with line differences for text, and capabilities gained and lost."""
    found = await published_skill(owner, repo, skill)
    before, after = await published_version(found, source), await published_version(found, target)
    return Response(await compare_versions(before, after), headers=FRESH)


async def compare_versions(before: SkillVersion, after: SkillVersion) -> Comparison:
    """What differs between two versions of a skill. Raises BlobCorrupt rather than compare other bytes."""
    old, new = await read_content(before), await read_content(after)
    return Comparison(
        slug=after.slug,
        source=before.version,
        target=after.version,
        files=await asyncio.to_thread(compare_contents, old, new),
        capabilities=compare(
            before.capabilities,
            after.capabilities,
            since=before.version,
            has_same_rules=before.ruleset_version == after.ruleset_version,
        ),
    )
