"""How the source of a skill is: whether its repository is still there, and still has what was verified."""

from __future__ import annotations

import msgspec
from litestar import Response, get
from litestar.params import FromPath

from vskill_platform.domain.repo_health import RepoStatus
from vskill_platform.domain.skill import PublishedSkillSummary
from vskill_platform.stores.repo_health import health_of_repositories
from vskill_platform.web.api.skill_lookup import FRESH, SKILL, published_skill
from vskill_platform.web.api.skill_views import ListedSkill
from vskill_platform.web.source_words import SourceHealth, source_health


class HealthView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The source of a skill. `health` is null where nobody has looked yet, or where the skill comes from no repository."""

    slug: str
    repo_url: str
    health: SourceHealth | None


@get(f"{SKILL}/health", summary="How a skill's source is", tags=["skills"])
async def show_health(owner: FromPath[str], repo: FromPath[str], skill: FromPath[str]) -> Response[HealthView]:
    """ONLINE, STALE, MOVED, GONE, or UNKNOWN for whatever could not be found out, and whether the source has changed.

    A skill whose source is gone stays what it is: what was verified is kept here, and can be installed.
    """
    found = await published_skill(owner, repo, skill)
    view = HealthView(slug=found.slug, repo_url=found.repo_url, health=await source_health(found))
    return Response(view, headers=FRESH)


async def list_with_health(rows: list[PublishedSkillSummary]) -> list[ListedSkill]:
    """Rows of a list with what is known of their sources: one read for all. What nobody knows is null."""
    known = await health_of_repositories({row.repo_url for row in rows})
    return [_listed(row, known[row.repo_url].status if row.repo_url in known else None) for row in rows]


def _listed(row: PublishedSkillSummary, status: RepoStatus | None) -> ListedSkill:
    return ListedSkill(source_status=status, **{name: getattr(row, name) for name in row.__struct_fields__})
