"""Every route of the original's client, in one list."""

from __future__ import annotations

from litestar import Router
from litestar.types import ControllerRouterHandler

from vskill_platform.web.api.figures import show_positions
from vskill_platform.web.api.stats import show_queue_health, show_stats
from vskill_platform.web.api.submission_lists import show_submission_stats
from vskill_platform.web.api.submissions import create_submission
from vskill_platform.web.clients.vskill.accounts import list_tenants, refuse_exchange, sign_out
from vskill_platform.web.clients.vskill.blocking import check_client_blocklist, list_client_blocklist
from vskill_platform.web.clients.vskill.following import (
    show_status,
    stream_client_skills,
    stream_client_submissions,
    stream_submission,
)
from vskill_platform.web.clients.vskill.reading import ask_about_skill, find_skills
from vskill_platform.web.clients.vskill.updating import (
    check_client_updates,
    report_client_install,
    report_client_installs,
)

VSKILL_ROUTES: list[ControllerRouterHandler] = [
    find_skills,
    ask_about_skill,
    check_client_updates,
    report_client_installs,
    report_client_install,
    list_client_blocklist,
    check_client_blocklist,
    list_tenants,
    sign_out,
    refuse_exchange,
    show_status,
    stream_submission,
    stream_client_submissions,
    stream_client_skills,
    Router(
        "/vskill",
        route_handlers=[create_submission, show_submission_stats, show_positions, show_queue_health, show_stats],
    ),
]
