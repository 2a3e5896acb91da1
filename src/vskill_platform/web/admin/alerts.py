"""Alerts: what is wrong now, with what to do about it, and what was."""

from __future__ import annotations

from litestar import Response, get

from vskill_platform.domain.access import Permission
from vskill_platform.stores.alerts import list_alerts
from vskill_platform.stores.machines import list_machines
from vskill_platform.web.access import ACCESS, needs
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.pages.rendering import PageRequest


@get("/admin/alerts", opt={ACCESS: needs(Permission.SEE_PANEL)})
async def show_alerts(request: PageRequest) -> Response[str]:
    """Open alerts first, then those that have closed, and the machines that report."""
    alerts = await list_alerts()
    return await admin_page(
        request,
        "admin/alerts.html",
        section="alerts",
        open_alerts=[alert for alert in alerts if alert.is_open],
        closed_alerts=[alert for alert in alerts if not alert.is_open],
        machines=sorted(await list_machines(), key=lambda machine: machine.host),
    )
