"""Whether what is installed is still the newest (`outdated`, `update`), and reports of installs."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import Request, Response, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody

from vskill_platform.domain.errors import AmbiguousPackage, NotFound, SkillWithdrawn
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.versions import read_version, version_order
from vskill_platform.stores.fan_out import settle_each
from vskill_platform.stores.installs import count_installs
from vskill_platform.stores.versions import get_version
from vskill_platform.web.api.installs import may_count_install
from vskill_platform.web.api.skill_views import MAX_CHECKED, MAX_REPORTED
from vskill_platform.web.clients.vskill.naming import find_by_name, read_address
from vskill_platform.web.clients.vskill.reading import SKILLS
from vskill_platform.web.surface.rate_limits import INSTALLS, limited

_MAX_BODY_BYTES = 256 * 1024
_IN_FLIGHT = 32
_NOT_KEPT = {"Cache-Control": "no-store"}
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=400)]
Number = Annotated[str, msgspec.Meta(max_length=100)]


class Installed(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A skill that the client has."""

    name: Name
    current_version: Number = ""
    sha: Annotated[str, msgspec.Meta(max_length=100)] = ""


class InstalledSkills(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """All that the client has."""

    skills: Annotated[list[Installed], msgspec.Meta(max_length=MAX_CHECKED)]


class UpdateResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """How one stands. `latest` is null for what is not published; `warning` says why, or that the client's own was yanked."""

    name: str
    installed: str
    latest: str | None
    update_available: bool
    version_bump: str | None = None
    cert_tier: str | None = None
    cert_score: int | None = None
    warning: str | None = None


class UpdateResults(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How each stands, in the order that was asked."""

    results: list[UpdateResult]


class ReportedInstall(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One skill that was installed."""

    skill_name: Name
    repo_url: Annotated[str, msgspec.Meta(max_length=2000)] = ""
    version: Number = ""


class ReportedInstalls(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Skills that were installed together."""

    skills: Annotated[list[ReportedInstall], msgspec.Meta(max_length=MAX_REPORTED)]


class Counted(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many installs were counted. What is not published is not counted, and no error."""

    ok: bool = True
    counted: int


@post(f"{SKILLS}/check-updates", status_code=200, request_max_body_size=_MAX_BODY_BYTES)
async def check_client_updates(data: JSONBody[InstalledSkills]) -> Response[UpdateResults]:
    """Which of the client's skills have a newer version."""
    results = []
    for outcome in await settle_each(data.skills, _check, in_flight=_IN_FLIGHT):
        if isinstance(outcome, Exception):
            raise outcome
        results.append(outcome)
    return Response(UpdateResults(results=results), headers=_NOT_KEPT)


async def _check(installed: Installed) -> UpdateResult:
    try:
        skill = await find_by_name(installed.name)
    except (NotFound, SkillWithdrawn, AmbiguousPackage) as error:
        return UpdateResult(
            name=installed.name,
            installed=installed.current_version,
            latest=None,
            update_available=False,
            warning=error.message,
        )
    bump = version_bump(installed.current_version, skill.version)
    return UpdateResult(
        name=installed.name,
        installed=installed.current_version,
        latest=skill.version,
        update_available=bump is not None,
        version_bump=bump,
        cert_tier=skill.tier,
        cert_score=skill.score,
        warning=await _warning(skill, installed.current_version),
    )


def version_bump(installed: str, latest: str) -> str | None:
    """What grew from one version to the other: `major`, `minor` or `patch`; None where the client has the newest or a newer."""
    known = read_version(installed)
    if known is None or version_order(known) >= version_order(latest):
        return None if known is not None else "major"
    before, after = known.split("-")[0].split("."), latest.split("-", maxsplit=1)[0].split(".")
    words = zip(("major", "minor", "patch"), before, after, strict=False)
    return next((word for word, old, new in words if old != new), "patch")


async def _warning(skill: Skill, installed: str) -> str | None:
    version = await get_version(skill.slug, installed) if installed else None
    if version is None or not version.is_yanked:
        return None
    return f"{skill.slug} {installed} was yanked: {version.yank_reason}"


@post(f"{SKILLS}/installs", status_code=200, request_max_body_size=_MAX_BODY_BYTES)
async def report_client_installs(
    data: JSONBody[ReportedInstalls], request: Request[Any, Any, State], state: State
) -> Response[Counted]:
    """Count one install of each skill, as far as the caller has places left."""
    found: dict[str, Skill] = {}
    for number, reported in enumerate(data.skills):
        if not await may_count_install(request, state, is_first=number == 0):
            break
        try:
            skill = await find_by_name(reported.skill_name)
        except (NotFound, SkillWithdrawn, AmbiguousPackage):
            continue
        found[skill.slug] = skill
    if found:
        await count_installs(list(found.values()))
    return Response(Counted(counted=len(found)), headers=_NOT_KEPT)


@post(f"{SKILLS}/{{address:path}}", status_code=200, guards=[limited(INSTALLS)])
async def report_client_install(address: FromPath[str]) -> Response[Counted]:
    """Count one install of a skill."""
    skill = await find_by_name(read_address(address, known=frozenset({"installs"})).name)
    await count_installs([skill])
    return Response(Counted(counted=1), headers=_NOT_KEPT)
