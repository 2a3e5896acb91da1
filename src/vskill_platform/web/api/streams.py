"""Live updates: what happens to submissions and skills, as server-sent events.

A stream is resumed by the id of the last event that was seen: by `Last-Event-ID`, which browsers send by themselves, or by
`lastEventId`. `reset` says that events are missing, so that what is shown has to be read afresh.
"""

from __future__ import annotations

from litestar import Request, Response, get
from litestar.datastructures import State

from vskill_platform.domain.errors import InvalidInput
from vskill_platform.domain.submission import SubmissionState, expand_state_filter
from vskill_platform.web.api.parameters import read_parameters, read_subjects
from vskill_platform.web.live.hub import Hub
from vskill_platform.web.live.response import MEDIA_TYPE, EventStream
from vskill_platform.web.live.telling import Topic
from vskill_platform.web.live.wanted import Wanted

HUB = "hub"
"""In the application's state: the hub of the process."""
_LAST_EVENT = 2**63 - 1
_RESUMING = "lastEventId"


@get("/api/v1/submissions/stream", media_type=MEDIA_TYPE)
async def stream_submissions(request: Request[object, object, State], state: State) -> Response[bytes]:
    """What happens to submissions: to those named by `ids`, to those in or out of a `state` or `category`, or to all."""
    given = read_parameters(request, "ids", "state", "category", _RESUMING)
    named = [name for name in ("ids", "state", "category") if name in given]
    if len(named) > 1:
        raise InvalidInput(f"A stream is filtered by one of {', '.join(named)}, not by several. Open one for each.")
    states = _states(given.get("state", given.get("category")))
    return await _open(request, state[HUB], Wanted(Topic.SUBMISSIONS, read_subjects("ids", given), states))


@get("/api/v1/skills/stream", media_type=MEDIA_TYPE)
async def stream_skills(request: Request[object, object, State], state: State) -> Response[bytes]:
    """What happens to published skills: to those named by `slugs`, or to all; and to the blocklist."""
    given = read_parameters(request, "slugs", _RESUMING)
    return await _open(request, state[HUB], Wanted(Topic.SKILLS, read_subjects("slugs", given)))


async def _open(request: Request[object, object, State], hub: Hub, wanted: Wanted) -> Response[bytes]:
    address = request.client.host if request.client else "unknown"
    after = _after(request)
    hub.places.check(address)
    await hub.check_readable()
    return EventStream(hub, wanted, after=after, address=address)


def _states(words: str | None) -> frozenset[SubmissionState] | None:
    if words is None:
        return None
    return frozenset(state for word in words.split(",") for state in expand_state_filter(word))


def _after(request: Request[object, object, State]) -> int | None:
    """The event to go on after. A browser that comes again says so in the header; the address is the one it began with."""
    text = request.headers.get("Last-Event-ID") or request.query_params.get(_RESUMING)
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= _LAST_EVENT):
        raise InvalidInput("The id of an event is a whole number. Leave it out to begin with what happens from now on.")
    return int(text)
