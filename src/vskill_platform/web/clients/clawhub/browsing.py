"""Searching and listing: `search`, `search --prefix`, `search --exact` and `explore`."""

from __future__ import annotations

from typing import Annotated

from litestar import Response, get
from litestar.params import QueryParameter

from vskill_platform.domain.errors import InvalidCursor
from vskill_platform.stores.skills import SkillQuery, search_skills
from vskill_platform.web.api.skill_lookup import FRESH
from vskill_platform.web.clients.clawhub.naming import MOST_ALIKE, short_name
from vskill_platform.web.clients.clawhub.reading import Document, Limit
from vskill_platform.web.clients.clawhub.views import view_hit, view_row
from vskill_platform.web.surface.kept_answers import KEPT

MOST_LISTED = 200
_SORTS = {
    "": "updated",
    "updated": "updated",
    "createdAt": "published",
    "newest": "published",
    "stars": "score",
    "rating": "score",
    "downloads": "installs",
    "installs": "installs",
    "installsCurrent": "installs",
    "installsAllTime": "installs",
    "trending": "installs",
}
"""What clients sort by, in our words: stars and rating are the trust score, whatever is about use is installs."""
Text = Annotated[str, QueryParameter(max_length=200)]
Cursor = Annotated[str, QueryParameter(max_length=20)]


@get("/api/v1/search", opt={KEPT: True})
async def search(q: Text = "", limit: Limit = 25, mode: Text = "") -> Document:
    """The best first; with `mode=exact` those whose name is the search."""
    is_exact = mode == "exact"
    found = await search_skills(SkillQuery(search=q.strip(), limit=MOST_ALIKE if is_exact else _bounded(limit)))
    rows = [row for row in found.rows if not is_exact or short_name(row.slug) == q.strip().lower()]
    hits = [view_hit(row, place=place) for place, row in enumerate(rows[: _bounded(limit)])]
    return Response({"results": hits}, headers=FRESH)


@get("/api/v1/skills", opt={KEPT: True})
async def explore(limit: Limit = 25, sort: Text = "", prefix: Text = "", cursor: Cursor = "", q: Text = "") -> Document:
    """A page of all skills, or of those whose names begin so. A page of these may have fewer than its limit."""
    offset, size = _offset(cursor), _bounded(limit)
    wanted = prefix.strip().lower()
    query = SkillQuery(search=wanted or q, sort=_SORTS.get(sort, "updated"), limit=size, offset=offset)
    found = await search_skills(query)
    items = [view_row(row) for row in found.rows if short_name(row.slug).startswith(wanted)]
    end = offset + len(found.rows)
    following = str(end) if found.rows and end < found.total else None
    return Response({"items": items, "nextCursor": following}, headers=FRESH)


def _bounded(limit: int) -> int:
    return min(max(1, limit), MOST_LISTED)


def _offset(cursor: str) -> int:
    if cursor and not (cursor.isascii() and cursor.isdigit()):
        raise InvalidCursor("This cursor is none that a list has given. Begin without one.")
    return int(cursor or 0)


BROWSING_ROUTES = [search, explore]
