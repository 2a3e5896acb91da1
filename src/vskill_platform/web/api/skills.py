"""Published skills: the list with its filters and counts, what changed since, and one skill."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from litestar import Response, get
from litestar.params import FromPath, QueryParameter

from vskill_platform.domain.errors import InvalidQuery
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.source_link import source_link
from vskill_platform.ports.catalog import MAX_SEARCH_CHARS
from vskill_platform.stores.changes import read_changes
from vskill_platform.stores.counts import get_counts
from vskill_platform.stores.skills import SkillQuery, search_skills
from vskill_platform.stores.versions import count_versions
from vskill_platform.web.api.parameters import MAX_NAME_CHARS, Limit, Offset
from vskill_platform.web.api.skill_lookup import (
    FRESH,
    SKILL,
    SKILLS,
    published_skill,
    published_version,
    require_published,
)
from vskill_platform.web.api.skill_views import SkillDetail, SkillList, TombstoneView
from vskill_platform.web.api.source_health import list_with_health
from vskill_platform.web.source_words import source_health
from vskill_platform.web.surface.kept_answers import KEPT

Text = Annotated[str, QueryParameter(max_length=MAX_SEARCH_CHARS, description="Words to search for.")]
Needed = Annotated[str, QueryParameter(min_length=1, max_length=MAX_SEARCH_CHARS, description="Words to search for.")]
Values = Annotated[
    list[Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)]] | None,
    QueryParameter(max_items=50, description="Only skills that have one of these; may come several times."),
]
Sort = Annotated[
    Literal["relevance", "updated", "published", "score", "installs", "name"] | None,
    QueryParameter(description="What to sort by: a search by relevance, else by the newest change."),
]
Direction = Annotated[
    Literal["asc", "desc"] | None, QueryParameter(name="sortDir", description="Names ascend, all else descends.")
]
Facet = Literal["tier", "category", "publisher", "capability"]
Counted = Annotated[
    list[Facet] | None,
    QueryParameter(max_items=4, description="What to count among what matches, each without its own filter."),
]
Since = Annotated[
    str | None,
    QueryParameter(
        name="updatedSince",
        min_length=1,
        max_length=2000,
        description="A time, or the `until` of an earlier answer: what changed since, with tombstones. Alone or with `limit`.",
    ),
]


@get(SKILLS, summary="List and search published skills", tags=["skills"], opt={KEPT: True})
async def list_skills(
    *,
    q: Text = "",
    tier: Values = None,
    category: Values = None,
    publisher: Values = None,
    capability: Values = None,
    sort: Sort = None,
    direction: Direction = None,
    counts: Counted = None,
    updated_since: Since = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Response[SkillList]:
    """One page of skills, how many match in all, and the counts that were asked for, all of one moment.

    With `updatedSince`: what changed since then, and what is gone. Come back with `until`, and nothing is missed.
    """
    query = make_query(
        q,
        tier=tier,
        category=category,
        publisher=publisher,
        capability=capability,
        sort=sort,
        direction=direction,
        counts=counts,
        limit=limit,
        offset=offset,
    )
    if updated_since is None:
        return Response(await _search(query), headers=FRESH)
    if query != SkillQuery(limit=limit):
        raise InvalidQuery("'updatedSince' goes with 'limit' and with nothing else: it is for following all changes.")
    return Response(await _changes(updated_since, limit=limit), headers={"Cache-Control": "no-store"})


@get(f"{SKILLS}/search", summary="Search published skills", tags=["skills"], opt={KEPT: True})
async def search(
    *,
    q: Needed,
    tier: Values = None,
    category: Values = None,
    publisher: Values = None,
    capability: Values = None,
    sort: Sort = None,
    direction: Direction = None,
    counts: Counted = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Response[SkillList]:
    """The same as the list, for those who want a search: the best first."""
    query = make_query(
        q,
        tier=tier,
        category=category,
        publisher=publisher,
        capability=capability,
        sort=sort,
        direction=direction,
        counts=counts,
        limit=limit,
        offset=offset,
    )
    return Response(await _search(query), headers=FRESH)


def make_query(
    q: str,
    *,
    tier: list[str] | None,
    category: list[str] | None,
    publisher: list[str] | None,
    capability: list[str] | None,
    sort: str | None,
    direction: str | None,
    counts: list[Facet] | None,
    limit: int,
    offset: int,
) -> SkillQuery:
    """The question that the parameters of a request ask."""
    return SkillQuery(
        search=q,
        tier=tuple(tier or ()),
        category=tuple(category or ()),
        publisher=tuple(publisher or ()),
        capability=tuple(capability or ()),
        sort=None if sort == "relevance" else sort,
        descending=direction == "desc" if direction else sort != "name",
        limit=limit,
        offset=offset,
        counts=tuple(dict.fromkeys(counts or ())),
    )


async def _search(query: SkillQuery) -> SkillList:
    found = await search_skills(query)
    return SkillList(
        skills=await list_with_health(found.rows),
        total=found.total,
        limit=query.limit,
        offset=query.offset,
        counts=dict(found.counts),
    )


async def _changes(since: str, *, limit: int) -> SkillList:
    changes = await read_changes(since, limit=limit)
    return SkillList(
        skills=await list_with_health(changes.skills),
        total=None,
        limit=limit,
        offset=0,
        counts={},
        tombstones=[
            TombstoneView(**{name: getattr(one, name) for name in TombstoneView.__struct_fields__})
            for one in changes.tombstones
        ],
        until=changes.until,
        has_more=changes.has_more,
    )


@get(SKILL, summary="One published skill", tags=["skills"])
async def show_skill(owner: FromPath[str], repo: FromPath[str], skill: FromPath[str]) -> Response[SkillDetail]:
    """The newest version, how it was judged, what it can do, and what was counted of it.

    An older slug answers 308 with the present one; a skill that was withdrawn answers 410 with the reason.
    """
    return Response(await describe_skill(await published_skill(owner, repo, skill)), headers=FRESH)


@get(f"{SKILLS}/{{alias:str}}", summary="A skill by a slug of an older form", tags=["skills"])
async def show_alias(alias: FromPath[str]) -> Response[SkillDetail]:
    """Slugs once had one part. Where one is known, 308 leads to the present slug."""
    found = await require_published(alias)
    return Response(await describe_skill(found.skill), headers=FRESH)


async def describe_skill(skill: Skill) -> SkillDetail:
    """All that is public of a published skill."""
    version = await published_version(skill, "")
    place = f"{SKILLS}/{skill.slug}"
    ways = (
        "versions",
        "security",
        "security.sarif",
        "capabilities",
        "opinions",
        "health",
        "badge",
        "badge.json",
        "installs",
        "star",
    )
    return SkillDetail(
        slug=skill.slug,
        name=skill.name,
        description=skill.description,
        publisher=skill.publisher,
        category=skill.category,
        license=skill.license,
        version=skill.version,
        tier=version.tier,
        verdict=version.verdict,
        score=version.score,
        ruleset_version=version.ruleset_version,
        repo_url=skill.repo_url,
        skill_path=skill.skill_path,
        commit=skill.commit,
        source_url=source_link(skill.repo_url, commit=skill.commit, path=skill.skill_path),
        content_digest=skill.content_digest,
        published_at=skill.published_at,
        updated_at=skill.updated_at,
        submission_id=skill.submission_id,
        capabilities=version.capabilities,
        counts=await get_counts(skill),
        versions=await count_versions(skill.slug),
        health=await source_health(skill),
        links={"self": place, **{way: f"{place}/{way}" for way in ways}},
    )
