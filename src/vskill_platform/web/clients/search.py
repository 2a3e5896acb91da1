"""The search of `skills find`, which is given the registry's address as SKILLS_API_URL."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import QueryParameter

from vskill_platform.ports.catalog import MAX_SEARCH_CHARS
from vskill_platform.stores.skills import SkillQuery, search_skills
from vskill_platform.web.api.parameters import MAX_NAME_CHARS
from vskill_platform.web.api.skill_lookup import FRESH
from vskill_platform.web.clients.listing import entry_name
from vskill_platform.web.site import site_url
from vskill_platform.web.surface.kept_answers import KEPT

Words = Annotated[str, QueryParameter(max_length=MAX_SEARCH_CHARS, description="Words to search for.")]
Most = Annotated[int, QueryParameter(ge=1, le=100, description="How many to give at most.")]
Owner = Annotated[str, QueryParameter(max_length=MAX_NAME_CHARS, description="Only what this publisher has published.")]


class FoundEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A skill as that client shows it: `source` is what it is told to install from, the address of the skill's page."""

    id: str
    name: str
    source: str
    installs: int
    description: str


class FoundEntries(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, the best first, and how much there is in all."""

    skills: list[FoundEntry]
    total: int


@get("/api/search", opt={KEPT: True})
async def find_for_clients(
    request: Request[Any, Any, State], *, q: Words = "", limit: Most = 20, owner: Owner = ""
) -> Response[FoundEntries]:
    """Published skills that match."""
    found = await search_skills(SkillQuery(search=q, limit=limit, publisher=(owner,) if owner else ()))
    site = site_url(request)
    entries = [
        FoundEntry(
            id=row.slug,
            name=entry_name(row.name, slug=row.slug),
            source=f"{site}/skills/{row.slug}",
            installs=row.installs,
            description=row.description,
        )
        for row in found.rows
    ]
    return Response(FoundEntries(skills=entries, total=found.total), headers=FRESH)
