"""The settings in force, secrets hidden."""

from __future__ import annotations

from litestar import Response, get

from vskill_platform.domain.access import Permission
from vskill_platform.web.access import ACCESS, needs
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.api.admin.settings import view_settings
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.worker_context import current_env


@get("/admin/settings", opt={ACCESS: needs(Permission.SEE_SETTINGS)})
async def show_settings(request: PageRequest) -> Response[str]:
    """Every setting of the process that answers: those that were set first, with what each is for."""
    settings = view_settings(current_env("settings").settings)
    return await admin_page(
        request,
        "admin/settings.html",
        section="settings",
        chosen=[setting for setting in settings if setting.is_set],
        defaults=[setting for setting in settings if not setting.is_set],
    )
