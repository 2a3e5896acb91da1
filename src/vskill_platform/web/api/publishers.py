"""Publishers: who has published skills here, and what."""

from __future__ import annotations

from typing import Annotated, Literal

from litestar import Response, get
from litestar.params import FromPath, QueryParameter

from vskill_platform.domain.catalog import SKILLS
from vskill_platform.domain.errors import NotFound
from vskill_platform.stores.skills import SkillQuery, search_skills
from vskill_platform.web.api.parameters import Limit, Offset
from vskill_platform.web.api.skill_lookup import FRESH
from vskill_platform.web.api.skill_views import PublisherDetail, PublisherList, PublisherView
from vskill_platform.worker_context import current_env

_MAX_NAME_CHARS = 200
Part = Annotated[str, QueryParameter(max_length=_MAX_NAME_CHARS, description="A part of the name.")]
Sort = Annotated[Literal["skills", "name"], QueryParameter(description="The most skills first, or by name.")]


@get("/api/v1/publishers", summary="List publishers", tags=["publishers"])
async def list_publishers(
    q: Part = "", sort: Sort = "skills", limit: Limit = 50, offset: Offset = 0
) -> Response[PublisherList]:
    """Everybody who has a published skill, and how many they have."""
    publishers = await find_publishers(q, sort=sort)
    page = publishers[offset : offset + limit]
    view = PublisherList(publishers=page, total=len(publishers), limit=limit, offset=offset)
    return Response(view, headers=FRESH)


async def find_publishers(part: str, *, sort: str) -> list[PublisherView]:
    """Publishers whose names hold a text, sorted by how many skills they have or by name."""
    counts = await current_env("catalog").catalog.counts(SKILLS, "publisher")
    wanted = part.casefold()
    found = [PublisherView(name=name, skills=count) for name, count in counts.items() if wanted in name.casefold()]
    return sorted(found, key=lambda one: one.name if sort == "name" else (-one.skills, one.name))


@get("/api/v1/publishers/{name:str}", summary="One publisher", tags=["publishers"])
async def show_publisher(name: FromPath[str], limit: Limit = 50, offset: Offset = 0) -> Response[PublisherDetail]:
    """A publisher's skills, the newest change first, with counts by tier, category and capability."""
    counts = ("tier", "category", "capability")
    found = await search_skills(SkillQuery(publisher=(name,), limit=limit, offset=offset, counts=counts))
    if not found.total:
        raise NotFound(f"There is no publisher '{name[:_MAX_NAME_CHARS]}'.", name=name[:_MAX_NAME_CHARS])
    view = PublisherDetail(
        name=name, skills=found.rows, total=found.total, limit=limit, offset=offset, counts=dict(found.counts)
    )
    return Response(view, headers=FRESH)
