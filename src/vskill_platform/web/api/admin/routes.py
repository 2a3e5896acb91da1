"""Every route of the admin API, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.api.admin.accounts import ACCOUNT_ROUTES
from vskill_platform.web.api.admin.alerts import ALERT_ROUTES
from vskill_platform.web.api.admin.audit import AUDIT_ROUTES
from vskill_platform.web.api.admin.blocklist import BLOCKLIST_ROUTES
from vskill_platform.web.api.admin.catalog import CATALOG_ROUTES
from vskill_platform.web.api.admin.contacts import CONTACT_ROUTES
from vskill_platform.web.api.admin.dead_letters import DEAD_LETTER_ROUTES
from vskill_platform.web.api.admin.overview import show_overview
from vskill_platform.web.api.admin.publishers import PUBLISHER_ROUTES
from vskill_platform.web.api.admin.queue import QUEUE_ROUTES
from vskill_platform.web.api.admin.reports import REPORT_ROUTES
from vskill_platform.web.api.admin.rescans import RESCAN_ROUTES
from vskill_platform.web.api.admin.review import REVIEW_ROUTES
from vskill_platform.web.api.admin.review_desk import DESK_ROUTES
from vskill_platform.web.api.admin.rules import RULE_ROUTES
from vskill_platform.web.api.admin.scanners import SCANNER_ROUTES
from vskill_platform.web.api.admin.settings import show_settings_in_force
from vskill_platform.web.api.admin.skill_acts import SKILL_ACT_ROUTES
from vskill_platform.web.api.admin.skills import SKILL_ROUTES
from vskill_platform.web.api.admin.stuck import STUCK_ROUTES
from vskill_platform.web.api.admin.submission_details import SUBMISSION_DETAIL_ROUTES
from vskill_platform.web.api.admin.submissions import SUBMISSION_ROUTES
from vskill_platform.web.api.admin.tokens import TOKEN_ROUTES
from vskill_platform.web.api.admin.vendors import VENDOR_ROUTES
from vskill_platform.web.api.admin.webhooks import WEBHOOK_ROUTES

ADMIN_ROUTES: list[ControllerRouterHandler] = [
    *QUEUE_ROUTES,
    *DEAD_LETTER_ROUTES,
    *STUCK_ROUTES,
    *SUBMISSION_ROUTES,
    *SUBMISSION_DETAIL_ROUTES,
    show_overview,
    show_settings_in_force,
    *REVIEW_ROUTES,
    *BLOCKLIST_ROUTES,
    *REPORT_ROUTES,
    *SKILL_ROUTES,
    *CATALOG_ROUTES,
    *DESK_ROUTES,
    *SKILL_ACT_ROUTES,
    *VENDOR_ROUTES,
    *AUDIT_ROUTES,
    *PUBLISHER_ROUTES,
    *CONTACT_ROUTES,
    *RULE_ROUTES,
    *RESCAN_ROUTES,
    *SCANNER_ROUTES,
    *ACCOUNT_ROUTES,
    *TOKEN_ROUTES,
    *ALERT_ROUTES,
    *WEBHOOK_ROUTES,
]
