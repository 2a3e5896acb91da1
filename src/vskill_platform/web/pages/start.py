"""The start page: what this is, what is in it, and how a skill gets here. Every figure is counted when the page is asked for."""

from __future__ import annotations

from litestar import Response, get

from vskill_platform.domain.submission import Category
from vskill_platform.stores.catalog import count_submissions
from vskill_platform.stores.skills import SkillQuery, search_skills
from vskill_platform.web.pages.rendering import PageRequest, page
from vskill_platform.web.surface.kept_answers import KEPT

_NEWEST = 6
_MOST_INSTALLED = 6


@get("/", opt={KEPT: True})
async def start_page(request: PageRequest) -> Response[str]:
    """What this is, what is newest and most installed, and how verification works."""
    newest = await search_skills(SkillQuery(sort="published", limit=_NEWEST, counts=("publisher",)))
    installed = await search_skills(SkillQuery(sort="installs", limit=_MOST_INSTALLED))
    counts = await count_submissions()
    return page(
        request,
        "start.html",
        newest=newest.rows,
        installed=[row for row in installed.rows if row.installs],
        skills=newest.total,
        publishers=len(newest.counts.get("publisher", {})),
        in_queue=counts[Category.ACTIVE.value],
        in_review=counts[Category.REVIEW.value],
        turned_down=counts[Category.REJECTED.value] + counts[Category.BLOCKED.value],
    )
