"""What somebody has submitted, and what can be done about it."""

from __future__ import annotations

from litestar import Response, get

from vskill_platform.web.access import ACCESS, caller_of
from vskill_platform.web.api.own_submissions import own_appeals, own_submissions
from vskill_platform.web.api.owning import OWNED
from vskill_platform.web.pages.browsing import read_page_number
from vskill_platform.web.pages.own_frame import own_page
from vskill_platform.web.pages.paging import make_paging, offset_of
from vskill_platform.web.pages.rendering import PageRequest

_SIZE = 50


@get("/account/submissions", opt={ACCESS: OWNED})
async def show_own_submissions(request: PageRequest) -> Response[str]:
    """What whoever is signed in has submitted, the newest change first, and their reports and appeals."""
    account, number = caller_of(request).id, read_page_number(request)
    found = await own_submissions(account, limit=_SIZE, offset=offset_of(number, size=_SIZE))
    return own_page(
        request,
        "own/submissions.html",
        section="submissions",
        rows=found.submissions,
        appeals=(await own_appeals(account)).appeals,
        paging=make_paging("/account/submissions", number=number, size=_SIZE, total=found.total, parameters={}),
    )
