"""Skills for those who moderate: finding one, its versions, and taking it or one of them out of people's hands."""

from __future__ import annotations

from typing import Annotated

from litestar import Response, get
from litestar.params import FromPath, QueryParameter

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import NotFound
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.slug import is_pushed
from vskill_platform.domain.tombstone import TOMBSTONE_PREFIX, Departure
from vskill_platform.pipeline.asked_providers import asked_providers
from vskill_platform.ports.catalog import MAX_SEARCH_CHARS
from vskill_platform.stores.reads import read_prefix, require_complete
from vskill_platform.stores.skills import alias_end, find_skill, get_published_skills_list
from vskill_platform.stores.tombstones import decode_tombstone, get_tombstone
from vskill_platform.stores.versions import get_version, get_versions
from vskill_platform.web.access import ACCESS, needs
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.opinions import ProviderOpinion, opinions_on_version
from vskill_platform.web.pages.paging import PageNumber, make_paging, offset_of
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.source_words import source_health

ROWS = 25
_SEE = {ACCESS: needs(Permission.SEE_PANEL)}
_HELD = (Departure.QUARANTINED, Departure.YANKED, Departure.WITHDRAWN)
Words = Annotated[str, QueryParameter(name="q", max_length=MAX_SEARCH_CHARS)]


@get("/admin/skills", opt=_SEE)
async def show_skills(request: PageRequest, q: Words = "", number: PageNumber = 1) -> Response[str]:
    """Published skills, newest change first, or those that a search finds."""
    found = await get_published_skills_list(search=q, limit=ROWS, offset=offset_of(number, size=ROWS))
    return await admin_page(
        request,
        "admin/skills.html",
        section="skills",
        q=q,
        rows=found.rows,
        total=found.total,
        paging=make_paging("/admin/skills", number=number, size=ROWS, total=found.total, parameters={"q": q}),
    )


@get("/admin/skills-out", opt=_SEE)
async def show_skills_out(request: PageRequest, number: PageNumber = 1) -> Response[str]:
    """Skills that nobody gets any more: in quarantine, without a version left, or withdrawn; the newest first."""
    every = require_complete(await read_prefix(TOMBSTONE_PREFIX, decode_tombstone))
    found = [tombstone for tombstone in every if tombstone.kind in _HELD]
    found.sort(key=lambda one: (one.kind is Departure.QUARANTINED, one.at), reverse=True)
    offset = offset_of(number, size=ROWS)
    return await admin_page(
        request,
        "admin/skills_out.html",
        section="skills",
        rows=found[offset : offset + ROWS],
        total=len(found),
        paging=make_paging("/admin/skills-out", number=number, size=ROWS, total=len(found), parameters={}),
    )


@get("/admin/skills/{owner:str}/{repo:str}/{skill:str}", opt=_SEE)
async def show_skill(
    request: PageRequest, owner: FromPath[str], repo: FromPath[str], skill: FromPath[str]
) -> Response[str]:
    """One skill that is or was published, with every version and what can be done about it."""
    slug = "/".join((owner, repo, skill))
    found = await find_skill(await alias_end(slug))
    if found is None:
        raise NotFound(f"There is no skill '{slug[:300]}', and there was none.", slug=slug[:300])
    tombstone = await get_tombstone(found.skill.slug) if found.is_withdrawn else None
    return await admin_page(
        request,
        "admin/skill.html",
        section="skills",
        skill=found.skill,
        is_out=found.is_withdrawn,
        tombstone=tombstone,
        is_quarantined=tombstone is not None and tombstone.kind is Departure.QUARANTINED,
        versions=await get_versions(found.skill.slug),
        asked=() if found.is_withdrawn else tuple(asked_providers()),
        opinions={} if found.is_withdrawn else await _opinions(found.skill),
        has_repository=not found.is_withdrawn and bool(found.skill.repo_url) and not is_pushed(found.skill.repo_url),
        health=None if found.is_withdrawn else await source_health(found.skill),
    )


async def _opinions(skill: Skill) -> dict[str, ProviderOpinion]:
    """What each provider says of the published bytes."""
    version = await get_version(skill.slug, skill.version)
    found = () if version is None else (await opinions_on_version(version)).providers
    return {opinion.provider: opinion for opinion in found}
