"""One submission: its stages as they happen, what was found and how to mend it, and the way to try again."""

from __future__ import annotations

from typing import Any

from litestar import Response, get, post
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect
from litestar.status_codes import HTTP_303_SEE_OTHER

from vskill_platform.domain.source_link import source_link
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.pipeline.intake import submit_again
from vskill_platform.stores.positions import find_position
from vskill_platform.web.access import caller_of
from vskill_platform.web.api.parameters import MOST_SUBJECTS
from vskill_platform.web.api.submissions import submitter_of, view_submission
from vskill_platform.web.pages.paging import address
from vskill_platform.web.pages.rendering import PageRequest, page
from vskill_platform.web.pages.skill import by_severity
from vskill_platform.web.pages.stages import is_under_way, last_step, stages_of
from vskill_platform.web.pages.submission_words import may_try_again, tell_answer, tell_place, tell_standing
from vskill_platform.web.surface.rate_limits import SUBMISSIONS, limited
from vskill_platform.web.views import SubmissionView


@get("/submissions/{identity:str}")
async def show_submission_page(
    request: PageRequest, identity: FromPath[str], answer: FromQuery[str] = ""
) -> Response[str]:
    """How a submission stands; `answer` is what became of the wish that led here."""
    return page(request, "submission.html", answered=tell_answer(answer), **await _describe(identity))


@get("/submissions/{identity:str}/part")
async def show_submission_part(request: PageRequest, identity: FromPath[str]) -> Response[str]:
    """The part of the page that changes, for a page that is open."""
    return page(request, "parts/submission.html", **await _describe(identity))


async def _describe(identity: str) -> dict[str, Any]:
    view = await view_submission(identity)
    return {
        "view": view,
        "stages": stages_of(view),
        "told": tell_standing(view),
        "last": last_step(view),
        "place": tell_place(await find_position(identity)) if view.state is SubmissionState.RECEIVED else "",
        "source": _source(view),
        "findings": by_severity(view.scan.findings) if view.scan is not None else [],
        "is_live": is_under_way(view) or (view.opinions is not None and view.opinions.is_open),
        "followed": [view.id, *(child.id for child in view.children)][:MOST_SUBJECTS],
        "may_try_again": may_try_again(view),
    }


def _source(view: SubmissionView) -> str:
    """Where its files are at the commit that was scanned, or nothing where that is not known."""
    link = source_link(view.repo_url, commit=view.commit or "", path=view.skill_path)
    return "" if link is None else f"{link}/"


@post("/submissions/{identity:str}/again", status_code=HTTP_303_SEE_OTHER, guards=[limited(SUBMISSIONS)])
async def try_submission_again(request: PageRequest, identity: FromPath[str]) -> Redirect:
    """Submit the same once more, and go on to what came of it. Raises NotFound."""
    intake = await submit_again(identity, submitter=submitter_of(caller_of(request)))
    return see_submission(intake.submission.id, answer=intake.answer.value)


def see_submission(identity: str, *, answer: str) -> Redirect:
    """The way to a submission's page after something was sent."""
    return Redirect(address(f"/submissions/{identity}", {"answer": answer}), status_code=HTTP_303_SEE_OTHER)
