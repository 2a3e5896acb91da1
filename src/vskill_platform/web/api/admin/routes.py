"""Every route of the admin API, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.api.admin.dead_letters import DEAD_LETTER_ROUTES
from vskill_platform.web.api.admin.overview import show_overview
from vskill_platform.web.api.admin.queue import QUEUE_ROUTES
from vskill_platform.web.api.admin.settings import show_settings_in_force
from vskill_platform.web.api.admin.stuck import STUCK_ROUTES
from vskill_platform.web.api.admin.submissions import SUBMISSION_ROUTES

ADMIN_ROUTES: list[ControllerRouterHandler] = [
    *QUEUE_ROUTES,
    *DEAD_LETTER_ROUTES,
    *STUCK_ROUTES,
    *SUBMISSION_ROUTES,
    show_overview,
    show_settings_in_force,
]
