"""The queue: every submission and how it stands, by category or state, found by words, as it changes."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from litestar import Response, get
from litestar.params import FromQuery, QueryParameter

from vskill_platform.domain.submission import Category, SubmissionState
from vskill_platform.stores.catalog import count_submissions
from vskill_platform.stores.pause import get_pause
from vskill_platform.stores.submissions import get_submission_index
from vskill_platform.web.pages.paging import PageNumber, address, make_paging, offset_of
from vskill_platform.web.pages.rendering import PageRequest, page

PATH = "/queue"
PAGE_SIZE = 50
SORTS = {"updated": "Newest change", "created": "Newest", "skill_name": "Name"}


class Tab(NamedTuple):
    """A category to choose: its name and title, where it leads, how many there are, and whether it is the present one."""

    name: str
    title: str
    href: str
    amount: int
    is_current: bool


@get(PATH)
async def show_queue_page(
    request: PageRequest,
    q: FromQuery[str] = "",
    wanted: Annotated[str, QueryParameter(name="state")] = "",
    sort: FromQuery[str] = "updated",
    number: PageNumber = 1,
) -> Response[str]:
    """One page of submissions with the counts of all categories. Raises InvalidQuery for a state or sort there is not."""
    found = await get_submission_index(
        state=wanted or None, search=q, limit=PAGE_SIZE, offset=offset_of(number, size=PAGE_SIZE)
    )
    kept = {"q": q, "state": wanted, "sort": "" if sort == "updated" else sort}
    return page(
        request,
        "queue.html",
        rows=found.rows,
        paging=make_paging(PATH, number=number, size=PAGE_SIZE, total=found.total, parameters=kept),
        tabs=_tabs(await count_submissions(), wanted, {"q": q, "sort": kept["sort"]}),
        categories=[member.value for member in Category],
        states=[member.value for member in SubmissionState],
        sorts=SORTS,
        q=q,
        state=wanted,
        sort=sort,
        pause=await get_pause(),
        charts=[],
    )


def _tabs(counts: dict[str, int], state: str, kept: dict[str, str]) -> list[Tab]:
    everything = Tab("total", "All", address(PATH, kept), counts["total"], not state)
    return [
        everything,
        *(
            Tab(
                category.value,
                category.value.capitalize(),
                address(PATH, {**kept, "state": category.value}),
                counts[category.value],
                state == category.value,
            )
            for category in Category
        ),
    ]
