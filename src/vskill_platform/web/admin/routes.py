"""Every page of the panel, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.admin.overview import show_overview_page
from vskill_platform.web.admin.queue import show_queue
from vskill_platform.web.admin.settings import show_settings
from vskill_platform.web.admin.stuck import show_stuck
from vskill_platform.web.admin.submissions import show_submission_detail, show_submissions

ADMIN_PAGES: list[ControllerRouterHandler] = [
    show_overview_page,
    show_queue,
    show_stuck,
    show_submissions,
    show_submission_detail,
    show_settings,
]
