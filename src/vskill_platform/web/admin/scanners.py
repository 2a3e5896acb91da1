"""Second opinions on the panel."""

from __future__ import annotations

from litestar import Response, get
from litestar.params import FromQuery

from vskill_platform.domain.access import Permission
from vskill_platform.web.access import ACCESS, needs
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.scanners import read_scanners


@get("/admin/scanners", opt={ACCESS: needs(Permission.SEE_PANEL)})
async def show_scanners_page(request: PageRequest, fragment: FromQuery[bool] = False) -> Response[str]:
    """Who is asked for a second opinion, what waits for them and what came last; and the judge."""
    template = "admin/parts/scanners.html" if fragment else "admin/scanners.html"
    return await admin_page(request, template, section="scanners", scanners=await read_scanners())
