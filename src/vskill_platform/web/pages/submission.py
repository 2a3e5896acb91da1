"""One submission: its stages as they happen, what was found and how to mend it, and the way to try again."""

from __future__ import annotations

import hashlib
from typing import Any

from litestar import Response, get, post
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect
from litestar.status_codes import HTTP_204_NO_CONTENT, HTTP_303_SEE_OTHER
from markupsafe import Markup

from vskill_platform.pipeline.intake import submit_repository
from vskill_platform.stores.submissions import get_submission
from vskill_platform.web.api.submissions import view_submission
from vskill_platform.web.pages.paging import address
from vskill_platform.web.pages.rendering import PageRequest, page, render
from vskill_platform.web.pages.stages import is_under_way, last_step, stages_of
from vskill_platform.web.pages.submission_words import may_try_again, tell_answer, tell_standing
from vskill_platform.web.surface.rate_limits import SUBMISSIONS, limited

_SEEN_CHARS = 16


@get("/submissions/{identity:str}")
async def show_submission_page(
    request: PageRequest, identity: FromPath[str], answer: FromQuery[str] = ""
) -> Response[str]:
    """How a submission stands; `answer` is what became of the wish that led here."""
    return page(request, "submission.html", answered=tell_answer(answer), **await _describe(identity))


@get("/submissions/{identity:str}/part")
async def show_submission_part(
    request: PageRequest, identity: FromPath[str], seen: FromQuery[str] = ""
) -> Response[str]:
    """The part of the page that changes, for a page that is open: 204 where it is what that page has."""
    described = await _describe(identity)
    if seen == described["seen"]:
        return Response("", status_code=HTTP_204_NO_CONTENT, headers={"Cache-Control": "no-store"})
    return page(request, "parts/live_submission.html", **described)


async def _describe(identity: str) -> dict[str, Any]:
    view = await view_submission(identity)
    part = render(
        "parts/submission.html",
        view=view,
        stages=stages_of(view),
        told=tell_standing(view),
        last=last_step(view),
        place="",
        source="",
        may_try_again=may_try_again(view),
    )
    seen = hashlib.sha256(part.encode()).hexdigest()[:_SEEN_CHARS]
    safe = Markup(part)  # noqa: S704 - made by a template, which escapes
    return {"view": view, "part": safe, "seen": seen, "is_live": is_under_way(view)}


@post("/submissions/{identity:str}/again", status_code=HTTP_303_SEE_OTHER, guards=[limited(SUBMISSIONS)])
async def try_submission_again(identity: FromPath[str]) -> Redirect:
    """Submit the same once more, and go on to what came of it. Raises NotFound."""
    submission = (await get_submission(identity)).submission
    url = f"{submission.repo_url}/tree/{submission.tree_path}" if submission.tree_path else submission.repo_url
    intake = await submit_repository(url, skill_name=submission.skill_name)
    return see_submission(intake.submission.id, answer=intake.answer.value)


def see_submission(identity: str, *, answer: str) -> Redirect:
    """The way to a submission's page after something was sent."""
    return Redirect(address(f"/submissions/{identity}", {"answer": answer}), status_code=HTTP_303_SEE_OTHER)
