"""Publishers, for whoever says whose they are."""

from __future__ import annotations

from litestar import Response, get

from vskill_platform.domain.access import Permission
from vskill_platform.web.access import ACCESS, needs
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.api.admin.publishers import claimed_publishers
from vskill_platform.web.pages.rendering import PageRequest


@get("/admin/publishers", opt={ACCESS: needs(Permission.MANAGE_ACCOUNTS)})
async def show_publishers(request: PageRequest) -> Response[str]:
    """Every publisher that was claimed, and the buttons that grant one, hand it on or take it away."""
    found = await claimed_publishers()
    return await admin_page(request, "admin/publishers.html", section="publishers", publishers=found.publishers)
