"""Submissions and streams as the original's client follows them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath, QueryParameter

from vskill_platform.domain.access import CallerKind
from vskill_platform.domain.errors import SignInRequired
from vskill_platform.stores.submissions import get_submission
from vskill_platform.stores.submitters import submissions_of
from vskill_platform.web.access import caller_of
from vskill_platform.web.api.parameters import MOST_SUBJECTS, read_subjects
from vskill_platform.web.api.streams import HUB, LastEvent, open_stream
from vskill_platform.web.clients.vskill.naming import resolve_name
from vskill_platform.web.live.response import MEDIA_TYPE
from vskill_platform.web.live.telling import Topic
from vskill_platform.web.live.wanted import Wanted

API = "/vskill/api/v1"
Names = Annotated[str | None, QueryParameter(description="Names of skills with commas between.")]
Mine = Annotated[str, QueryParameter(max_length=10, description="`1` for the caller's own alone.")]


class SubmissionStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How a submission stands. `status` and `state` say the same; the client asks for either."""

    id: str
    status: str
    state: str
    skill_name: str
    repo_url: str
    reason: str | None
    verdict: str | None
    score: int | None
    slug: str | None
    version: str | None
    children: list[str]
    created_at: str
    updated_at: str


@get(f"{API}/submissions/{{identity:str}}")
async def show_status(identity: FromPath[str]) -> Response[SubmissionStatus]:
    """How a submission stands."""
    found = (await get_submission(identity)).submission
    status = SubmissionStatus(
        id=found.id,
        status=found.state.value,
        state=found.state.value,
        skill_name=found.skill_name,
        repo_url=found.repo_url,
        reason=found.reason,
        verdict=found.verdict,
        score=found.score,
        slug=found.slug,
        version=found.version,
        children=list(found.children),
        created_at=found.created_at,
        updated_at=found.updated_at,
    )
    return Response(status, headers={"Cache-Control": "no-cache"})


@get(f"{API}/submissions/stream/{{identity:str}}", media_type=MEDIA_TYPE)
async def stream_submission(
    request: Request[Any, Any, State], state: State, identity: FromPath[str], last_event: LastEvent = None
) -> Response[bytes]:
    """What happens to one submission."""
    await get_submission(identity)
    return await open_stream(
        request, state[HUB], Wanted(Topic.SUBMISSIONS, frozenset({identity})), last_event=last_event
    )


@get(f"{API}/submissions/stream", media_type=MEDIA_TYPE)
async def stream_client_submissions(
    request: Request[Any, Any, State], state: State, mine: Mine = "", last_event: LastEvent = None
) -> Response[bytes]:
    """What happens to all submissions, or to the newest of the caller's own as they are now."""
    wanted = Wanted(Topic.SUBMISSIONS, await _own(request) if mine == "1" else None)
    return await open_stream(request, state[HUB], wanted, last_event=last_event)


async def _own(request: Request[Any, Any, State]) -> frozenset[str]:
    caller = caller_of(request)
    if caller.kind not in (CallerKind.SESSION, CallerKind.TOKEN):
        raise SignInRequired("Whose submissions are to be followed must be known. Sign in, or send a token.")
    newest = sorted(await submissions_of(caller.id), key=lambda one: one.created_at, reverse=True)
    return frozenset(one.id for one in newest[:MOST_SUBJECTS])


@get(f"{API}/skills/stream", media_type=MEDIA_TYPE)
async def stream_client_skills(
    request: Request[Any, Any, State], state: State, skills: Names = None, last_event: LastEvent = None
) -> Response[bytes]:
    """What happens to the skills of these names, or to all."""
    named = read_subjects("skills", skills)
    slugs = None if named is None else frozenset([await resolve_name(name) for name in named])
    return await open_stream(request, state[HUB], Wanted(Topic.SKILLS, slugs), last_event=last_event)
