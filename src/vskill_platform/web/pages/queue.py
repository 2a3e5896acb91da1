"""The queue: every submission and how it stands, by category or state, found by words, as it changes."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from litestar import Response, get
from litestar.params import FromQuery, QueryParameter

from vskill_platform.domain.submission import Category, SubmissionState, count_by_category
from vskill_platform.stores.catalog import Rows
from vskill_platform.stores.pause import get_pause
from vskill_platform.stores.submissions import SubmissionRow, get_submission_index
from vskill_platform.web.pages.paging import PageNumber, address, make_paging, offset_of
from vskill_platform.web.pages.queue_charts import read_charts
from vskill_platform.web.pages.rendering import PageRequest, page

PATH = "/queue"
PAGE_SIZE = 50
SORTS = {"": "Newest change", "created": "Newest", "skill_name": "Name"}
_ASCENDING = ("skill_name",)


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
    *,
    q: FromQuery[str] = "",
    wanted: Annotated[str, QueryParameter(name="state")] = "",
    sort: FromQuery[str] = "",
    number: PageNumber = 1,
    fragment: FromQuery[bool] = False,
) -> Response[str]:
    """One page of submissions with the counts of all categories; as a `fragment` only what changes while it is open.

    Raises InvalidQuery for a state or sort there is not.
    """
    found = await get_submission_index(
        state=wanted or None,
        search=q,
        sort=sort or None,
        descending=sort not in _ASCENDING,
        limit=PAGE_SIZE,
        offset=offset_of(number, size=PAGE_SIZE),
        counts=("state",),
    )
    chosen = {"q": q, "state": wanted, "sort": sort}
    return page(
        request,
        "parts/queue_list.html" if fragment else "queue.html",
        rows=found.rows,
        paging=make_paging(PATH, number=number, size=PAGE_SIZE, total=found.total, parameters=chosen),
        tabs=make_tabs(found, chosen),
        categories=[member.value for member in Category],
        states=[member.value for member in SubmissionState],
        sorts=SORTS,
        chosen=chosen,
        fragment=address(PATH, {**chosen, "page": number if number > 1 else None, "fragment": "true"}),
        pause=await get_pause(),
        charts=[] if fragment else await read_charts(),
    )


def make_tabs(found: Rows[SubmissionRow], chosen: dict[str, str], *, path: str = PATH) -> list[Tab]:
    """The categories with how many of each the search finds: counts of the same moment as the rows."""
    by_state = {SubmissionState(name): count for name, count in found.counts["state"].items()}
    tabs = [Tab("total", "All", address(path, {**chosen, "state": ""}), sum(by_state.values()), not chosen["state"])]
    for category, count in count_by_category(by_state).items():
        href = address(path, {**chosen, "state": category.value})
        tabs.append(Tab(category.value, category.value.capitalize(), href, count, chosen["state"] == category.value))
    return tabs
