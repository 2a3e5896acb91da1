"""Installs: how many there were, and clients that report one; and whether what a client has is still the newest."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody

from vskill_platform.domain.errors import RateLimited
from vskill_platform.domain.skill import Skill
from vskill_platform.stores.counts import get_counts, skill_identity
from vskill_platform.stores.installs import count_installs
from vskill_platform.stores.skills import alias_end, find_skill
from vskill_platform.web.api.skill_lookup import SKILL, SKILLS, published_skill
from vskill_platform.web.api.skill_views import CountsView, InstallAnswer, InstallOutcome, InstallReport
from vskill_platform.web.surface.rate_limits import INSTALLS, LIMITED, limited, take_place

_MAX_BODY_BYTES = 64 * 1024
_NOT_KEPT = {"Cache-Control": "no-store"}


@get(f"{SKILL}/installs", summary="How often a skill was installed", tags=["skills"])
async def show_installs(owner: FromPath[str], repo: FromPath[str], skill: FromPath[str]) -> Response[CountsView]:
    """Installs that clients reported, archives that were fetched, and stars, as of now."""
    return Response(await _view(await published_skill(owner, repo, skill)), headers={"Cache-Control": "no-cache"})


@post(
    f"{SKILL}/installs",
    summary="Report an install",
    tags=["skills"],
    status_code=200,
    guards=[limited(INSTALLS)],
    request_max_body_size=_MAX_BODY_BYTES,
)
async def report_install(owner: FromPath[str], repo: FromPath[str], skill: FromPath[str]) -> Response[CountsView]:
    """Count one install. Needs no body."""
    found = await published_skill(owner, repo, skill)
    await count_installs([found])
    return Response(await _view(found), headers=_NOT_KEPT)


async def _view(skill: Skill) -> CountsView:
    counts = await get_counts(skill)
    return CountsView(
        slug=skill.slug,
        installs=counts.installs,
        downloads=counts.downloads,
        stars=counts.stars,
        update_checks=counts.update_checks,
    )


@post(
    f"{SKILLS}/installs",
    summary="Report installs of several skills",
    tags=["skills"],
    status_code=200,
    request_max_body_size=_MAX_BODY_BYTES,
)
async def report_installs(
    data: JSONBody[InstallReport], request: Request[Any, Any, State], state: State
) -> Response[InstallAnswer]:
    """Count one install of each. Each takes one of the caller's places; what no place is left for says so."""
    outcomes: dict[str, InstallOutcome] = {}
    counted: dict[str, Skill] = {}
    for slug in dict.fromkeys(data.skills):
        if not await may_count_install(request, state, is_first=not outcomes):
            outcomes[slug] = InstallOutcome.LIMITED
            continue
        found = await find_skill(await alias_end(slug))
        if found is None or found.is_withdrawn:
            outcomes[slug] = InstallOutcome.UNKNOWN if found is None else InstallOutcome.WITHDRAWN
            continue
        counted[skill_identity(found.skill)] = found.skill
        outcomes[slug] = InstallOutcome.COUNTED
    if counted:
        await count_installs(list(counted.values()))
    return Response(InstallAnswer(outcomes=outcomes), headers=_NOT_KEPT)


async def may_count_install(request: Request[Any, Any, State], state: State, *, is_first: bool) -> bool:
    """Whether the caller had a place left for one more. Raises RateLimited where not even the first has one."""
    if not state.get(LIMITED):
        return True
    try:
        await take_place(request.scope, INSTALLS, address=request.client.host if request.client else "")
    except RateLimited:
        if is_first:
            raise
        return False
    return True
