"""Every page of the panel, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.admin.accounts import show_accounts
from vskill_platform.web.admin.alerts import show_alerts
from vskill_platform.web.admin.audit import show_audit
from vskill_platform.web.admin.blocklist import show_blocklist
from vskill_platform.web.admin.overview import show_overview_page
from vskill_platform.web.admin.publishers import show_publishers
from vskill_platform.web.admin.queue import show_queue
from vskill_platform.web.admin.reports import show_reports
from vskill_platform.web.admin.review import show_desk, show_submission
from vskill_platform.web.admin.rules import show_one_rule, show_rescans, show_rules
from vskill_platform.web.admin.scanners import show_scanners_page
from vskill_platform.web.admin.settings import show_settings
from vskill_platform.web.admin.skills import show_skill, show_skills, show_skills_out
from vskill_platform.web.admin.stuck import show_stuck
from vskill_platform.web.admin.submissions import show_submission_detail, show_submissions
from vskill_platform.web.admin.vendors import show_vendors
from vskill_platform.web.admin.webhooks import show_webhook, show_webhooks

ADMIN_PAGES: list[ControllerRouterHandler] = [
    show_overview_page,
    show_queue,
    show_stuck,
    show_submissions,
    show_submission_detail,
    show_settings,
    show_desk,
    show_submission,
    show_reports,
    show_skills,
    show_skills_out,
    show_skill,
    show_blocklist,
    show_vendors,
    show_audit,
    show_scanners_page,
    show_rules,
    show_rescans,
    show_one_rule,
    show_publishers,
    show_accounts,
    show_alerts,
    show_webhooks,
    show_webhook,
]
