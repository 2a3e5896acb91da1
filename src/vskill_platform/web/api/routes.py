"""Every route of the public API, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.api.figures import show_positions, show_series
from vskill_platform.web.api.skill_routes import SKILL_ROUTES
from vskill_platform.web.api.streams import stream_skills, stream_submissions
from vskill_platform.web.api.submissions import create_submission, show_submission

API_ROUTES: list[ControllerRouterHandler] = [
    create_submission,
    show_submission,
    *SKILL_ROUTES,
    stream_submissions,
    stream_skills,
    show_positions,
    show_series,
]
