"""What an error is answered with: a page for a person's browser, a problem document for everybody else."""

from __future__ import annotations

from urllib.parse import quote

import structlog
from litestar import Request, Response
from litestar.datastructures import State
from litestar.exceptions import HTTPException

from vskill_platform.domain.errors import SkillMoved, VskillError
from vskill_platform.web.pages.errors import Told, error_page, wants_page
from vskill_platform.web.surface.problems import is_plain_place, known_error, make_reply, retry_after


def answer_error(request: Request[object, object, State], error: Exception) -> Response[bytes] | Response[str]:
    """The answer to a request that failed."""
    known = known_error(request, error)
    reply = make_reply(known, path=request.scope["path"])
    headers = {name.decode(): value.decode() for name, value in reply.headers}
    if isinstance(error, HTTPException):
        headers.update(error.headers or {})
    if isinstance(error, SkillMoved):
        headers["Location"] = _present_address(request, error)
    media_type = headers.pop("content-type").partition(";")[0]
    if wants_page(request) and not is_plain_place(request.scope["path"]):
        kept = {name: value for name, value in headers.items() if not name.lower().startswith("content-")}
        return error_page(request, _told(known, status=reply.status), headers=kept)
    return Response(reply.body, status_code=reply.status, media_type=media_type, headers=headers)


def _told(error: VskillError, *, status: int) -> Told:
    near = error.fields.get("near", ())
    return Told(
        status=status,
        code=error.code,
        detail=error.message,
        retry_after_s=retry_after(error),
        request_id=str(structlog.contextvars.get_contextvars().get("request", "")) if status >= 500 else "",
        near=near if isinstance(near, tuple) else (),
    )


def _present_address(request: Request[object, object, State], error: SkillMoved) -> str:
    """Where the same is to be had of the skill under its present slug."""
    former, present = f"/skills/{error.fields['former']}", f"/skills/{error.fields['slug']}"
    path = quote(request.scope["path"].replace(former, present, 1))
    query = request.scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path
