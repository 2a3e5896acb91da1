"""Steering the queue: stopping it for a while, and letting it go on."""

from __future__ import annotations

import msgspec
from litestar import post
from litestar.params import JSONBody

from vskill_platform.domain.access import Permission
from vskill_platform.stores.pause import Pause, pause_queue, resume_queue
from vskill_platform.web.access import needs
from vskill_platform.web.acting import act
from vskill_platform.web.api.admin.requests import Reason
from vskill_platform.web.api.describing import described
from vskill_platform.web.pages.rendering import PageRequest

TAGS = ["admin"]
_PAUSE = Pause(reason="The git host is down", since="2026-11-16T09:00:00.000Z", until="2026-11-16T10:00:00.000Z")


class PauseRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Why, and for how many seconds; the setting's time where that is left out."""

    reason: str
    seconds: float | None = None


class Resumed(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The queue is not paused any more."""

    paused: None = None


@post(
    "/api/v1/admin/queue/pause",
    summary="Pause the queue",
    tags=TAGS,
    status_code=200,
    opt=described(
        _PAUSE, body=PauseRequest(reason="The git host is down", seconds=3600), access=needs(Permission.STEER_QUEUE)
    ),
)
async def pause(request: PageRequest, data: JSONBody[PauseRequest]) -> Pause:
    """Stop handing out work, for a while. Pausing again sets a new end."""
    return await act(
        request,
        "queue.pause",
        subject="queue",
        reason=data.reason,
        run=lambda: pause_queue(reason=data.reason, seconds=data.seconds),
    )


@post(
    "/api/v1/admin/queue/resume",
    summary="Resume the queue",
    tags=TAGS,
    status_code=200,
    opt=described(Resumed(), body=Reason(reason="It is back"), access=needs(Permission.STEER_QUEUE)),
)
async def resume(request: PageRequest, data: JSONBody[Reason]) -> Resumed:
    """Hand out work again."""
    await act(request, "queue.resume", subject="queue", reason=data.reason, run=resume_queue)
    return Resumed()


QUEUE_ROUTES = [pause, resume]
