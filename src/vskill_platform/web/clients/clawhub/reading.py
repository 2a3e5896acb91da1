"""One skill: what it is, its versions, their files and archives, and how an installed copy is told from them."""

from __future__ import annotations

from typing import Annotated

from litestar import Response, get
from litestar.params import FromPath, QueryParameter
from litestar.response import Stream

from vskill_platform.domain.errors import InvalidInput, NotFound
from vskill_platform.domain.skill import Skill, SkillVersion
from vskill_platform.stores.counts import get_counts
from vskill_platform.stores.versions import get_versions
from vskill_platform.web.api.archives import send_archive, send_file
from vskill_platform.web.api.skill_lookup import FRESH, offered_version
from vskill_platform.web.clients.clawhub.fingerprint import fingerprint
from vskill_platform.web.clients.clawhub.naming import ClawHubRequest, Named, find_named
from vskill_platform.web.clients.clawhub.standing import (
    Standing,
    describe_moderation,
    refusal,
    require_offered,
    standing_of,
)
from vskill_platform.web.clients.clawhub.views import view_files, view_owner, view_skill, view_version
from vskill_platform.web.site import site_url

LATEST = "latest"
Owner = Annotated[str, QueryParameter(name="ownerHandle", max_length=200)]
SkillSlug = Annotated[str, QueryParameter(name="slug", max_length=400)]
Text = Annotated[str, QueryParameter(max_length=400)]
Limit = Annotated[int, QueryParameter(name="limit")]
Document = Response[dict[str, object]]


@get("/api/v1/skills/{slug:str}")
async def show_skill(request: ClawHubRequest, slug: FromPath[str], owner: Owner = "") -> Document:
    """A skill. One that is flagged as malicious is told as that, so that clients say so instead of "not found"."""
    named = await find_named(request, slug, owner)
    standing = await standing_of(named)
    if not standing.is_offered and not standing.is_malware:
        raise refusal(named, standing)
    version = await _newest(named.skill, standing)
    latest = None if version is None else view_version(version, named.skill)
    return Response(
        {
            "skill": view_skill(named, await get_counts(named.skill)),
            "latestVersion": latest,
            "metadata": None,
            "owner": view_owner(named.owner),
            "moderation": describe_moderation(version, standing, []),
        },
        headers=FRESH,
    )


async def _newest(skill: Skill, standing: Standing) -> SkillVersion | None:
    return await offered_version(skill, "") if standing.is_offered else None


@get("/api/v1/skills/{slug:str}/versions")
async def list_versions(
    request: ClawHubRequest, slug: FromPath[str], owner: Owner = "", limit: Limit = 25, cursor: Text = ""
) -> Document:
    """The versions that can be had, newest first."""
    skill = await require_offered(await find_named(request, slug, owner))
    offered = [version for version in await get_versions(skill.slug) if not version.is_yanked]
    start = int(cursor) if cursor.isascii() and cursor.isdigit() else 0
    end = start + min(max(1, limit), 200)
    items = [view_version(version, skill) for version in offered[start:end]]
    return Response({"items": items, "nextCursor": str(end) if end < len(offered) else None}, headers=FRESH)


@get("/api/v1/skills/{slug:str}/versions/{version:str}")
async def show_version(
    request: ClawHubRequest, slug: FromPath[str], version: FromPath[str], owner: Owner = ""
) -> Document:
    """One version with its files. One that was yanked answers 410 with the reason."""
    named = await find_named(request, slug, owner)
    skill = await require_offered(named)
    found = await offered_version(skill, version)
    told = {**view_version(found, skill), "files": view_files(found)}
    return Response({"version": told, "skill": {"slug": named.asked, "displayName": skill.name}}, headers=FRESH)


@get("/api/v1/skills/{slug:str}/file")
async def show_file(
    request: ClawHubRequest,
    *,
    slug: FromPath[str],
    path: Text = "",
    owner: Owner = "",
    version: Text = "",
    tag: Text = "",
) -> Response[bytes]:
    """One file of a version, as it was verified."""
    skill = await require_offered(await find_named(request, slug, owner))
    found = await wanted_version(skill, version=version, tag=tag)
    answer = await send_file(found, path)
    answer.headers.update({} if version else FRESH)
    return answer


@get("/api/v1/skills/{slug:str}/install")
async def show_install(request: ClawHubRequest, slug: FromPath[str], owner: Owner = "") -> Document:
    """How to install a skill: always by its archive."""
    named = await find_named(request, slug, owner)
    version = await offered_version(await require_offered(named), "")
    query = f"slug={named.asked}&ownerHandle={named.owner}&version={version.version}"
    archive = {"version": version.version, "downloadUrl": f"{site_url(request)}/clawhub/api/v1/download?{query}"}
    return Response({"ok": True, "slug": named.asked, "installKind": "archive", "archive": archive}, headers=FRESH)


@get("/api/v1/download")
async def download(
    request: ClawHubRequest, slug: SkillSlug, owner: Owner = "", version: Text = "", tag: Text = ""
) -> Stream:
    """The archive of a version, with SKILL.md at its root."""
    skill = await require_offered(await find_named(request, slug, owner))
    found = await wanted_version(skill, version=version, tag=tag)
    answer = await send_archive(request, skill, found.version, kind="zip")
    answer.headers.update({} if version else FRESH)
    return answer


@get("/api/v1/resolve")
async def resolve(request: ClawHubRequest, slug: SkillSlug, owner: Owner = "", hash: Text = "") -> Document:  # noqa: A002
    """Which version has the files of this hash, and which is the newest."""
    skill = await require_offered(await find_named(request, slug, owner))
    versions = [version for version in await get_versions(skill.slug) if not version.is_yanked]
    match = next((one for one in versions if hash and fingerprint(one) == hash.lower()), None)
    return Response(
        {
            "match": None if match is None else {"version": match.version},
            "latestVersion": {"version": skill.version},
        },
        headers=FRESH,
    )


async def wanted_version(skill: Skill, *, version: str = "", tag: str = "") -> SkillVersion:
    """The version that is asked for by its number or a tag; there is one tag. Raises NotFound or VersionYanked."""
    if version and tag:
        raise InvalidInput("Give a version or a tag, not both.")
    if tag not in ("", LATEST):
        raise NotFound(f"{skill.slug} has no tag '{tag[:60]}'. There is only 'latest', the highest version.")
    return await offered_version(skill, version)


def asked_as(named: Named) -> dict[str, object]:
    """The names that answers about a skill have."""
    return {"slug": named.asked, "ownerHandle": named.owner, "displayName": named.skill.name}


READING_ROUTES = [show_skill, list_versions, show_version, show_file, show_install, download, resolve]
