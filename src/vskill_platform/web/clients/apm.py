"""apm's registry API, version 1: the versions of a package, the archive of one, and a new version by PUT.

A package is a skill (`apm_packages.py` says which), its archive the zip that everybody gets, with SKILL.md at the root. What
`/versions` lists can be had: versions that are being verified or were yanked are not among them. The same is there behind
a private path, for the skills of its collection alone.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath, PathParameter
from litestar.response import Stream

from vskill_platform.domain.errors import NotFound
from vskill_platform.domain.skill import Skill, SkillVersion
from vskill_platform.stores.collections import CollectionSkill
from vskill_platform.stores.private_paths import skills_of_path
from vskill_platform.stores.versions import get_versions
from vskill_platform.web.api.archives import send_archive
from vskill_platform.web.api.owning import NOT_KEPT
from vskill_platform.web.api.skill_lookup import FRESH
from vskill_platform.web.clients.apm_packages import find_package
from vskill_platform.web.clients.apm_publishing import publish_apm_version

APM = "/apm/v1/packages"
PRIVATE_APM = "/p/{secret:str}/apm/v1/packages"
TWO = "/{owner:str}/{repo:str}/versions"
THREE = "/{owner:str}/{repo:str}/{skill:str}/versions"
ARCHIVE = "/{version:str}/download"
ApmRequest = Request[Any, Any, State]
Secret = Annotated[str, PathParameter(min_length=1, max_length=100)]


class ApmVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A version that can be had. The digest is that of the archive's bytes."""

    version: str
    digest: str
    published_at: str
    size_bytes: int


class ApmVersions(msgspec.Struct, frozen=True, kw_only=True):
    """Every version of a package that can be had, newest first."""

    package: str
    versions: list[ApmVersion]


@get([f"{APM}{TWO}", f"{APM}{THREE}"])
async def list_apm_versions(request: ApmRequest) -> Response[ApmVersions]:
    """The versions of a package."""
    return Response(await _versions(await _package_of(request)), headers=FRESH)


@get([f"{APM}{TWO}{ARCHIVE}", f"{APM}{THREE}{ARCHIVE}"])
async def download_apm_archive(request: ApmRequest, version: FromPath[str]) -> Stream:
    """The archive of a version, as its digest says."""
    return await send_archive(request, await _package_of(request), version, kind="zip")


@get([f"{PRIVATE_APM}{TWO}", f"{PRIVATE_APM}{THREE}"])
async def list_private_apm_versions(request: ApmRequest, secret: Secret) -> Response[ApmVersions]:
    """The versions of a package of a private path's collection; the one that it is pinned to, where it is."""
    found = await _package_of(request)
    return Response(await _versions(found, only=await _pinned(secret, found)), headers=NOT_KEPT)


@get([f"{PRIVATE_APM}{TWO}{ARCHIVE}", f"{PRIVATE_APM}{THREE}{ARCHIVE}"])
async def download_private_apm_archive(request: ApmRequest, secret: Secret, version: FromPath[str]) -> Stream:
    """The archive of a version of such a package."""
    found = await _package_of(request)
    pinned = await _pinned(secret, found)
    if pinned not in (None, version):
        raise _not_behind_path(f"{found.slug} {version[:60]}")
    return await send_archive(request, found, version, kind="zip")


async def _package_of(request: ApmRequest) -> Skill:
    named = request.path_params
    return await find_package(named["owner"], named["repo"], named.get("skill", ""))


async def _versions(skill: Skill, *, only: str | None = None) -> ApmVersions:
    offered = [one for one in await get_versions(skill.slug) if not one.is_yanked and only in (None, one.version)]
    return ApmVersions(package=skill.slug, versions=[_describe(one) for one in offered])


def _describe(version: SkillVersion) -> ApmVersion:
    return ApmVersion(
        version=version.version,
        digest=version.zip_digest,
        published_at=version.published_at,
        size_bytes=version.zip_size,
    )


async def _pinned(secret: str, skill: Skill) -> str | None:
    """The version that a private path's collection pins a skill to; None where it pins none. Raises NotFound."""
    skills = (await skills_of_path(secret)).skills
    found: CollectionSkill | None = next((one for one in skills if one.slug == skill.slug), None)
    if found is None:
        raise _not_behind_path(skill.slug)
    return found.version if found.is_pinned else None


def _not_behind_path(what: str) -> NotFound:
    return NotFound(f"{what} is not behind this private path. Whoever gave you the path can say what is.")


APM_ROUTES = [
    list_apm_versions,
    download_apm_archive,
    publish_apm_version,
    list_private_apm_versions,
    download_private_apm_archive,
]
