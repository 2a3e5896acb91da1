"""Trusted vendors: whose skills are certified where the scan lets them pass."""

from __future__ import annotations

from litestar import Response, get

from vskill_platform.domain.access import Permission
from vskill_platform.stores.vendors import list_vendors
from vskill_platform.web.access import ACCESS, needs
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.pages.rendering import PageRequest


@get("/admin/vendors", opt={ACCESS: needs(Permission.SEE_PANEL)})
async def show_vendors(request: PageRequest) -> Response[str]:
    """The list, and the form that adds to it."""
    return await admin_page(request, "admin/vendors.html", section="vendors", vendors=await list_vendors())
