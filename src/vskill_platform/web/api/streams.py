"""Live updates: what happens to submissions and skills, as server-sent events.

A stream is resumed by the id of the last event that was seen: by `Last-Event-ID`, which browsers send by themselves, or by
`lastEventId`. `reset` says that events are missing, so that what is shown has to be read afresh.
"""

from __future__ import annotations

from typing import Annotated

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import QueryParameter

from vskill_platform.domain.errors import InvalidInput, TooManyStreams
from vskill_platform.domain.submission import SubmissionState, expand_state_filter
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.parameters import MOST_SUBJECTS, read_subjects
from vskill_platform.web.live.hub import Hub
from vskill_platform.web.live.response import MEDIA_TYPE, EventStream
from vskill_platform.web.live.telling import Topic
from vskill_platform.web.live.wanted import Wanted

HUB = "hub"
"""In the application's state: the hub of the process."""
_LAST_EVENT = 2**63 - 1


Ids = Annotated[
    str | None, QueryParameter(description=f"Ids of submissions, up to {MOST_SUBJECTS} with commas between.")
]
Slugs = Annotated[
    str | None, QueryParameter(description=f"Slugs of skills, up to {MOST_SUBJECTS} with commas between.")
]
States = Annotated[str | None, QueryParameter(name="state", description="States, with commas between.")]
Categories = Annotated[str | None, QueryParameter(description="Categories of states, with commas between.")]
LastEvent = Annotated[
    str | None,
    QueryParameter(name="lastEventId", description="The id of the last event that was seen, to go on from there."),
]
_SUBMISSION_EXAMPLE = (
    'id: 812\nevent: state_changed\ndata: {"id": "sub_3f2b8c1d9e4a4f60b7a1c5d2e8f90134", "state": "PUBLISHED"}\n\n'
)
_SKILL_EXAMPLE = 'id: 813\nevent: skill.published\ndata: {"slug": "acme/skills/pdf-forms", "version": "1.0.0"}\n\n'


@get(
    "/api/v1/submissions/stream",
    media_type=MEDIA_TYPE,
    summary="Follow submissions",
    tags=["live"],
    opt=described(_SUBMISSION_EXAMPLE, errors=(TooManyStreams,)),
)
async def stream_submissions(
    request: Request[object, object, State],
    state: State,
    *,
    ids: Ids = None,
    states: States = None,
    category: Categories = None,
    last_event: LastEvent = None,
) -> Response[bytes]:
    """What happens to submissions: to those named by `ids`, to those in or out of a `state` or `category`, or to all."""
    named = [name for name, value in (("ids", ids), ("state", states), ("category", category)) if value is not None]
    if len(named) > 1:
        raise InvalidInput(f"A stream is filtered by one of {', '.join(named)}, not by several. Open one for each.")
    wanted = Wanted(Topic.SUBMISSIONS, read_subjects("ids", ids), _states(states if category is None else category))
    return await open_stream(request, state[HUB], wanted, last_event=last_event)


@get(
    "/api/v1/skills/stream",
    media_type=MEDIA_TYPE,
    summary="Follow skills",
    tags=["live"],
    opt=described(_SKILL_EXAMPLE, errors=(TooManyStreams,)),
)
async def stream_skills(
    request: Request[object, object, State], state: State, *, slugs: Slugs = None, last_event: LastEvent = None
) -> Response[bytes]:
    """What happens to published skills: to those named by `slugs`, or to all; and to the blocklist."""
    wanted = Wanted(Topic.SKILLS, read_subjects("slugs", slugs))
    return await open_stream(request, state[HUB], wanted, last_event=last_event)


async def open_stream(
    request: Request[object, object, State], hub: Hub, wanted: Wanted, *, last_event: str | None
) -> Response[bytes]:
    """A stream of what is wanted, from after the last event that its reader has seen. Raises TooManyStreams."""
    address = request.client.host if request.client else "unknown"
    after = _after(request.headers.get("Last-Event-ID") or last_event)
    await hub.check_readable()
    return EventStream(hub, wanted, after=after, give_back=hub.places.take(address))


def _states(words: str | None) -> frozenset[SubmissionState] | None:
    if words is None:
        return None
    return frozenset(state for word in words.split(",") for state in expand_state_filter(word))


def _after(text: str | None) -> int | None:
    """The event to go on after. A browser that comes again says so in the header; the address is the one it began with."""
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= _LAST_EVENT):
        raise InvalidInput("The id of an event is a whole number. Leave it out to begin with what happens from now on.")
    return int(text)
