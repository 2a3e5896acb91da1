"""The overview: how the registry stands, why, and the figures behind it."""

from __future__ import annotations

from litestar import Response, get
from litestar.params import FromQuery

from vskill_platform.domain.access import Permission
from vskill_platform.domain.standing import Standing
from vskill_platform.stores.alerts import open_alerts
from vskill_platform.stores.overview import read_overview
from vskill_platform.web.access import ACCESS, needs
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.pages.queue_charts import read_charts
from vskill_platform.web.pages.rendering import PageRequest

LOOKS = {Standing.HEALTHY: "pass", Standing.DEGRADED: "warn", Standing.UNHEALTHY: "fail"}


@get("/admin", opt={ACCESS: needs(Permission.SEE_PANEL)})
async def show_overview_page(request: PageRequest, fragment: FromQuery[bool] = False) -> Response[str]:
    """How the registry stands; as a `fragment` only what changes while it is open."""
    return await admin_page(
        request,
        "admin/parts/overview.html" if fragment else "admin/overview.html",
        section="overview",
        overview=await read_overview(),
        looks=LOOKS,
        charts=await read_charts(),
        alerts=await open_alerts(),
    )
