"""Every route of the public API, in one list."""

from __future__ import annotations

from litestar import Router
from litestar.types import ControllerRouterHandler

from vskill_platform.web.api.account import OWN_ACCOUNT_ROUTES
from vskill_platform.web.api.account_access import OWN_ACCESS_ROUTES
from vskill_platform.web.api.blocklist import check_blocklist, list_blocklist
from vskill_platform.web.api.claims import CLAIM_ROUTES
from vskill_platform.web.api.collections import COLLECTION_ROUTES
from vskill_platform.web.api.discovery import discover
from vskill_platform.web.api.external_scans import EXTERNAL_SCAN_ROUTES
from vskill_platform.web.api.figures import show_positions, show_series
from vskill_platform.web.api.members import MEMBER_ROUTES
from vskill_platform.web.api.own_skills import OWN_SKILL_ROUTES
from vskill_platform.web.api.own_submissions import OWN_SUBMISSION_ROUTES
from vskill_platform.web.api.owning import NOT_KEPT
from vskill_platform.web.api.publisher_webhooks import PUBLISHER_WEBHOOK_ROUTES
from vskill_platform.web.api.reference import show_api_page, show_openapi
from vskill_platform.web.api.skill_routes import SKILL_ROUTES
from vskill_platform.web.api.stats import show_queue_health, show_stats, show_stats_health
from vskill_platform.web.api.streams import stream_skills, stream_submissions
from vskill_platform.web.api.submission_lists import (
    list_rejections,
    list_submissions,
    search_submissions,
    show_submission_stats,
)
from vskill_platform.web.api.submissions import create_submission, retry_submission, show_submission

OWN_ROUTES = Router(
    "/",
    route_handlers=[
        *CLAIM_ROUTES,
        *MEMBER_ROUTES,
        *OWN_SKILL_ROUTES,
        *OWN_SUBMISSION_ROUTES,
        *PUBLISHER_WEBHOOK_ROUTES,
    ],
    response_headers=NOT_KEPT,
)
"""What is about somebody's own: no answer of these is kept by anybody."""
API_ROUTES: list[ControllerRouterHandler] = [
    create_submission,
    list_submissions,
    search_submissions,
    show_submission_stats,
    discover,
    show_submission,
    retry_submission,
    list_rejections,
    list_blocklist,
    check_blocklist,
    show_stats,
    show_stats_health,
    show_queue_health,
    stream_submissions,
    stream_skills,
    show_openapi,
    show_api_page,
    *SKILL_ROUTES,
    *OWN_ACCOUNT_ROUTES,
    *OWN_ACCESS_ROUTES,
    show_positions,
    show_series,
    *COLLECTION_ROUTES,
    OWN_ROUTES,
    *EXTERNAL_SCAN_ROUTES,
]
