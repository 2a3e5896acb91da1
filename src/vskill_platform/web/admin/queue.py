"""The queue, for those who steer it."""

from __future__ import annotations

from litestar import Response, get

from vskill_platform.domain.access import Permission
from vskill_platform.stores.health import read_health
from vskill_platform.web.access import ACCESS, needs
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.pages.rendering import PageRequest


@get("/admin/queue", opt={ACCESS: needs(Permission.SEE_PANEL)})
async def show_queue(request: PageRequest) -> Response[str]:
    """How the queue stands, and the buttons that stop and start it."""
    health = await read_health()
    return await admin_page(request, "admin/queue.html", section="queue", queue=health.queue)
