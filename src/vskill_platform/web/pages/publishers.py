"""Publishers: who has published skills here, and what."""

from __future__ import annotations

from litestar import Response, get
from litestar.params import FromPath

from vskill_platform.accounts.ownership import is_member
from vskill_platform.domain.errors import NotFound
from vskill_platform.stores.collections import collections_of
from vskill_platform.stores.publishers import find_publisher
from vskill_platform.stores.skills import SkillQuery, search_skills
from vskill_platform.web.access import caller_of
from vskill_platform.web.api.owning import NOT_KEPT
from vskill_platform.web.api.publishers import find_publishers
from vskill_platform.web.pages.browsing import PAGE_SIZE, in_order, label_of, read_page_number
from vskill_platform.web.pages.paging import make_paging, offset_of
from vskill_platform.web.pages.rendering import PageRequest, page
from vskill_platform.web.pages.skill_frame import find_near

_LIST_SIZE = 60
_LONGEST = 200
_MOST_COUNTED = 20
_COUNTED = ("tier", "category", "capability")


@get("/publishers")
async def list_publishers(request: PageRequest) -> Response[str]:
    """Everybody who has a published skill, those with the most first."""
    search = request.query_params.get("q", "").strip()[:_LONGEST]
    sort = "name" if request.query_params.get("sort") == "name" else "skills"
    number = read_page_number(request)
    found = await find_publishers(search, sort=sort)
    offset = offset_of(number, size=_LIST_SIZE)
    parameters = {"q": search, "sort": sort if sort != "skills" else ""}
    return page(
        request,
        "publishers.html",
        publishers=found[offset : offset + _LIST_SIZE],
        search=search,
        sort=sort,
        paging=make_paging("/publishers", number=number, size=_LIST_SIZE, total=len(found), parameters=parameters),
    )


@get("/publishers/{name:str}")
async def show_publisher(request: PageRequest, name: FromPath[str]) -> Response[str]:
    """One publisher's skills, the newest change first."""
    number = read_page_number(request)
    offset = offset_of(number, size=PAGE_SIZE)
    found = await search_skills(SkillQuery(publisher=(name,), limit=PAGE_SIZE, offset=offset, counts=_COUNTED))
    if not found.total:
        shown = name[:_LONGEST]
        raise NotFound(
            f"There is no publisher '{shown}' with a published skill.", name=shown, near=await find_near(shown)
        )
    counts = {
        facet: [
            (label_of(facet, value), counted[value], value) for value in in_order(facet, counted, most=_MOST_COUNTED)
        ]
        for facet, counted in found.counts.items()
    }
    claimed = await find_publisher(name)
    is_own = claimed is not None and is_member(caller_of(request), claimed.publisher)
    return page(
        request,
        "publisher.html",
        headers=NOT_KEPT if is_own else {},
        name=name,
        claimed=None if claimed is None else claimed.publisher,
        is_own=is_own,
        collections=[one for one in await collections_of(name) if one.is_public or is_own],
        rows=found.rows,
        counts=counts,
        paging=make_paging(f"/publishers/{name}", number=number, size=PAGE_SIZE, total=found.total, parameters={}),
    )
