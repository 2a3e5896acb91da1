"""The queue, for those who steer it: what is in work, what waits and who is next, and what was given up."""

from __future__ import annotations

from litestar import Response, get
from litestar.params import FromQuery

from vskill_platform.domain.access import Permission
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.stores.health import read_health
from vskill_platform.stores.messages import list_messages
from vskill_platform.web.access import ACCESS, needs
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.worker_context import current_env

SHOWN = 25
"""How many messages of each kind the page has; the API has all of them."""


@get("/admin/queue", opt={ACCESS: needs(Permission.SEE_PANEL)})
async def show_queue(
    request: PageRequest, cursor: FromQuery[str | None] = None, fragment: FromQuery[bool] = False
) -> Response[str]:
    """How the queue stands and its messages; `cursor` leads on in the dead letters."""
    env = current_env("clock")
    return await admin_page(
        request,
        "admin/parts/queue.html" if fragment else "admin/queue.html",
        section="queue",
        queue=(await read_health()).queue,
        leased=(await list_messages(MessageStatus.LEASED, limit=SHOWN)).messages,
        waiting=(await list_messages(MessageStatus.WAITING, limit=SHOWN)).messages,
        delayed=(await list_messages(MessageStatus.DELAYED, limit=SHOWN)).messages,
        dead=await list_messages(MessageStatus.DEAD, cursor=cursor, limit=SHOWN),
        cursor=cursor,
        max_attempts=env.settings.max_attempts,
        at=iso_from_ms(env.clock.now_ms()),
    )
