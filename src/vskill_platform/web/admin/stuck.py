"""The stuck: the list that the sweep sees, and sending back without waiting for it."""

from __future__ import annotations

from litestar import Response, get
from litestar.params import FromQuery

from vskill_platform.domain.access import Permission
from vskill_platform.domain.recovery import MAX_RECOVERIES
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.stores.cron_runs import get_cron_run
from vskill_platform.stores.overview import read_stuck_figures
from vskill_platform.stores.stuck import read_stuck
from vskill_platform.web.access import ACCESS, needs
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.worker_context import current_env

SHOWN = 50


@get("/admin/stuck", opt={ACCESS: needs(Permission.SEE_PANEL)})
async def show_stuck(
    request: PageRequest, cursor: FromQuery[str | None] = None, fragment: FromQuery[bool] = False
) -> Response[str]:
    """Submissions that have not moved for five minutes, the longest first."""
    env = current_env("clock")
    sweep = await get_cron_run("sweep")
    return await admin_page(
        request,
        "admin/parts/stuck.html" if fragment else "admin/stuck.html",
        section="stuck",
        stuck=await read_stuck(cursor=cursor, limit=SHOWN),
        figures=await read_stuck_figures(),
        swept_at=None if sweep is None else iso_from_ms(sweep.started_ms),
        max_recoveries=MAX_RECOVERIES,
        max_attempts=env.settings.max_attempts,
        cursor=cursor,
        at=iso_from_ms(env.clock.now_ms()),
    )
