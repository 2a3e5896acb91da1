"""Submissions for those who steer them: found by filters and words, acted on in numbers, and looked at one by one."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import Response, get
from litestar.params import FromPath, FromQuery, QueryParameter

from vskill_platform.domain.access import Permission
from vskill_platform.domain.records import Submission
from vskill_platform.domain.repository import known_repository
from vskill_platform.domain.scan import Verdict
from vskill_platform.domain.submission import Category, SubmissionState
from vskill_platform.stores.selections import SubmissionFilter
from vskill_platform.stores.submissions import get_submission_index
from vskill_platform.web.access import ACCESS, needs
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.api.admin.submission_details import read_detail
from vskill_platform.web.pages.paging import PageNumber, address, make_paging, offset_of
from vskill_platform.web.pages.queue import SORTS, make_tabs
from vskill_platform.web.pages.rendering import PageRequest

PATH = "/admin/submissions"
PAGE_SIZE = 50
_ASCENDING = ("skill_name",)
_BLANK: dict[str, object] = dict.fromkeys(Submission.__struct_encode_fields__)
"""Every field that a record may have: one of an earlier version has not all of them."""
_SEE = {ACCESS: needs(Permission.SEE_PANEL)}


@get(PATH, opt=_SEE)
async def show_submissions(
    request: PageRequest,
    *,
    q: FromQuery[str] = "",
    wanted: Annotated[str, QueryParameter(name="state")] = "",
    verdict: FromQuery[str] = "",
    repo: FromQuery[str] = "",
    sort: FromQuery[str] = "",
    number: PageNumber = 1,
    fragment: FromQuery[bool] = False,
) -> Response[str]:
    """One page of submissions that match, with the counts of all categories."""
    repo_url = known_repository(repo) if repo else ""
    found = await get_submission_index(
        state=wanted or None,
        search=q,
        repo_url=repo_url or None,
        verdict=verdict or None,
        sort=sort or None,
        descending=sort not in _ASCENDING,
        limit=PAGE_SIZE,
        offset=offset_of(number, size=PAGE_SIZE),
        counts=("state",),
    )
    chosen = {"q": q, "state": wanted, "verdict": verdict, "repo": repo, "sort": sort}
    asked = SubmissionFilter(state=wanted, search=q, repo_url=repo_url, verdict=verdict)
    return await admin_page(
        request,
        "admin/parts/submissions.html" if fragment else "admin/submissions.html",
        section="submissions",
        rows=found.rows,
        total=found.total,
        paging=make_paging(PATH, number=number, size=PAGE_SIZE, total=found.total, parameters=chosen),
        tabs=make_tabs(found, chosen, path=PATH),
        categories=[member.value for member in Category],
        states=[member.value for member in SubmissionState],
        verdicts=[member.value for member in Verdict],
        sorts=SORTS,
        chosen=chosen,
        asked=msgspec.json.encode(asked).decode(),
        fragment=address(PATH, {**chosen, "page": number if number > 1 else None, "fragment": "true"}),
    )


@get(PATH + "/{identity:str}", opt=_SEE)
async def show_submission_detail(
    request: PageRequest, identity: FromPath[str], fragment: FromQuery[bool] = False
) -> Response[str]:
    """Everything about one submission. Raises NotFound."""
    detail = await read_detail(identity)
    return await admin_page(
        request,
        "admin/parts/submission.html" if fragment else "admin/submission.html",
        section="submissions",
        detail=detail,
        record={**_BLANK, **detail.record},
        raw=msgspec.json.format(msgspec.json.encode(detail.record), indent=2).decode(),
    )
