"""Finding skills and looking at one: `find`, `info`, `versions`, `diff`, `compare` and what scanners said."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath, QueryParameter

from vskill_platform.domain.content import SKILL_FILE_NAMES
from vskill_platform.domain.skill import PublishedSkillSummary, Skill, SkillVersion
from vskill_platform.ports.catalog import MAX_SEARCH_CHARS
from vskill_platform.stores.contents import read_file
from vskill_platform.stores.counts import get_counts
from vskill_platform.stores.publishers import owner_of
from vskill_platform.stores.skills import SkillQuery, search_skills
from vskill_platform.stores.versions import get_versions
from vskill_platform.web.api.parameters import Limit
from vskill_platform.web.api.skill_lookup import FRESH, offered_version
from vskill_platform.web.clients.vskill.comparing import compare_for_client, diff_for_client
from vskill_platform.web.clients.vskill.naming import find_by_name, read_address
from vskill_platform.web.clients.vskill.providers import tell_security
from vskill_platform.web.clients.vskill.trust import trust_tier

SKILLS = "/vskill/api/v1/skills"
ASKED = frozenset({"", "versions", "versions/diff", "versions/compare", "security"})
Query = Annotated[str, QueryParameter(min_length=1, max_length=MAX_SEARCH_CHARS)]
From = Annotated[str, QueryParameter(name="from", max_length=64)]
To = Annotated[str, QueryParameter(name="to", max_length=64)]


class FoundResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A skill that a search found."""

    name: str
    author: str
    repo_url: str
    cert_tier: str
    trust_tier: str
    trust_score: int
    cert_score: int
    description: str
    vskill_installs: int
    github_stars: int = 0
    command: str | None = None
    plugin_name: str | None = None
    is_tainted: bool = False
    is_blocked: bool = False
    owner_slug: str
    repo_slug: str
    skill_slug: str
    current_version: str
    alternate_repos: list[str] = []


class Pagination(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Whether there is more."""

    has_more: bool
    total: int


class FoundSkills(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a search found, best first."""

    results: list[FoundResult]
    pagination: Pagination


class SkillInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """All that the client knows of a skill. `content` is its SKILL.md, which it can install by itself."""

    name: str
    author: str
    cert_tier: str
    cert_score: int
    trust_tier: str
    trust_score: int
    current_version: str
    sha: str
    description: str
    content: str
    vskill_installs: int
    updated_at: str
    repo_url: str
    provenance_verified: bool
    command: str | None = None
    plugin_name: str | None = None


class SkillAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A skill, wrapped as the client expects it."""

    skill: SkillInfo


class VersionInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A version that can be had."""

    version: str
    cert_tier: str
    created_at: str
    content_hash: str
    cert_score: int
    diff_summary: str | None = None


class VersionInfos(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Versions, newest first."""

    versions: list[VersionInfo]


@get(f"{SKILLS}/search")
async def find_skills(q: Query, limit: Limit = 7) -> Response[FoundSkills]:
    """Skills that a search finds."""
    found = await search_skills(SkillQuery(search=q, limit=limit))
    more = Pagination(has_more=found.total > len(found.rows), total=found.total)
    return Response(FoundSkills(results=[_result(row) for row in found.rows], pagination=more), headers=FRESH)


def _result(row: PublishedSkillSummary) -> FoundResult:
    owner, repo, skill = [*row.slug.split("/"), "", ""][:3]
    return FoundResult(
        name=row.name,
        author=row.publisher or owner,
        repo_url=row.repo_url,
        cert_tier=row.tier,
        trust_tier=trust_tier(row.tier),
        trust_score=row.score,
        cert_score=row.score,
        description=row.description,
        vskill_installs=row.installs,
        owner_slug=owner,
        repo_slug=repo,
        skill_slug=skill,
        current_version=row.version,
    )


@get(f"{SKILLS}/{{address:path}}")
async def ask_about_skill(
    request: Request[Any, Any, State], address: FromPath[str], source: From = "", target: To = ""
) -> Response[Any]:
    """What the address asks of a skill whose name has one part or three."""
    asked = read_address(address, known=ASKED)
    skill = await find_by_name(asked.name)
    match asked.what:
        case "versions":
            answer: object = await _versions(skill)
        case "versions/diff":
            answer = await diff_for_client(skill, source, target)
        case "versions/compare":
            answer = await compare_for_client(skill, source, target)
        case "security":
            answer = await tell_security(request, skill)
        case _:
            answer = SkillAnswer(skill=await _info(skill))
    return Response(answer, headers=FRESH)


async def _info(skill: Skill) -> SkillInfo:
    version = await offered_version(skill, "")
    return SkillInfo(
        name=skill.name,
        author=skill.publisher or skill.slug.partition("/")[0],
        cert_tier=version.tier,
        cert_score=version.score,
        trust_tier=trust_tier(version.tier),
        trust_score=version.score,
        current_version=version.version,
        sha=version.content_digest.removeprefix("sha256:"),
        description=skill.description,
        content=await _document(version),
        vskill_installs=(await get_counts(skill)).installs,
        updated_at=skill.updated_at,
        repo_url=skill.repo_url,
        provenance_verified=await owner_of(skill.slug) is not None,
    )


async def _document(version: SkillVersion) -> str:
    paths = {file.path for file in version.files}
    name = next(name for name in SKILL_FILE_NAMES if name in paths)
    return (await read_file(version, name)).decode()


async def _versions(skill: Skill) -> VersionInfos:
    offered = [version for version in await get_versions(skill.slug) if not version.is_yanked]
    return VersionInfos(
        versions=[
            VersionInfo(
                version=version.version,
                cert_tier=version.tier,
                created_at=version.published_at,
                content_hash=version.content_digest,
                cert_score=version.score,
            )
            for version in offered
        ]
    )
