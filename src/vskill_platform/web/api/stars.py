"""Stars that visitors give. Before there are accounts, a visitor is a cookie."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, delete, get, put
from litestar.datastructures import State
from litestar.params import FromPath

from vskill_platform.domain.skill import Skill
from vskill_platform.stores.counts import get_counts
from vskill_platform.stores.stars import give_star, has_star, take_star_back
from vskill_platform.web.api.skill_lookup import SKILL, published_skill
from vskill_platform.web.api.skill_views import StarView
from vskill_platform.web.surface.rate_limits import STARS, limited
from vskill_platform.web.visitors import new_visitor, visitor_cookie, visitor_of

_NOT_KEPT = {"Cache-Control": "no-store"}


@get(f"{SKILL}/star", summary="Whether you have starred a skill", tags=["skills"])
async def show_star(
    owner: FromPath[str], repo: FromPath[str], skill: FromPath[str], request: Request[Any, Any, State]
) -> Response[StarView]:
    """Your star, by your browser's cookie, and how many there are."""
    found, visitor = await published_skill(owner, repo, skill), visitor_of(request)
    return await _answer(found, is_starred=visitor is not None and await has_star(found, visitor))


@put(
    f"{SKILL}/star",
    summary="Star a skill",
    tags=["skills"],
    guards=[limited(STARS)],
)
async def add_star(
    owner: FromPath[str], repo: FromPath[str], skill: FromPath[str], request: Request[Any, Any, State]
) -> Response[StarView]:
    """Give your star; giving it twice changes nothing. Sets the cookie that it belongs to."""
    found = await published_skill(owner, repo, skill)
    visitor = visitor_of(request) or new_visitor()
    await give_star(found, visitor)
    answer = await _answer(found, is_starred=True)
    answer.cookies.append(visitor_cookie(request, visitor))
    return answer


@delete(
    f"{SKILL}/star",
    summary="Take a star back",
    tags=["skills"],
    status_code=200,
    guards=[limited(STARS)],
)
async def remove_star(
    owner: FromPath[str], repo: FromPath[str], skill: FromPath[str], request: Request[Any, Any, State]
) -> Response[StarView]:
    """Take your star back; where you have given none, nothing changes."""
    found, visitor = await published_skill(owner, repo, skill), visitor_of(request)
    if visitor is not None:
        await take_star_back(found, visitor)
    return await _answer(found, is_starred=False)


async def _answer(skill: Skill, *, is_starred: bool) -> Response[StarView]:
    counts = await get_counts(skill)
    return Response(StarView(slug=skill.slug, is_starred=is_starred, stars=counts.stars), headers=_NOT_KEPT)
