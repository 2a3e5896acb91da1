"""Every route of the API that is about skills, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.api.archives import download_file, download_tar, download_zip
from vskill_platform.web.api.badges import show_badge, show_badge_endpoint
from vskill_platform.web.api.export import export_skills
from vskill_platform.web.api.installs import report_install, report_installs, show_installs
from vskill_platform.web.api.opinions import show_opinions
from vskill_platform.web.api.publishers import list_publishers, show_publisher
from vskill_platform.web.api.reports import appeal_decision, report_skill, show_report
from vskill_platform.web.api.security import show_capabilities, show_sarif, show_security
from vskill_platform.web.api.skills import list_skills, search, show_alias, show_skill
from vskill_platform.web.api.source_health import show_health
from vskill_platform.web.api.stars import add_star, remove_star, show_star
from vskill_platform.web.api.updates import check_updates
from vskill_platform.web.api.versions import list_versions, show_comparison, show_version

SKILL_ROUTES: list[ControllerRouterHandler] = [
    list_skills,
    search,
    show_skill,
    show_alias,
    list_versions,
    show_version,
    show_comparison,
    download_file,
    download_zip,
    download_tar,
    show_badge,
    show_badge_endpoint,
    show_security,
    show_sarif,
    show_capabilities,
    show_health,
    show_opinions,
    show_installs,
    report_install,
    report_installs,
    check_updates,
    show_star,
    add_star,
    remove_star,
    report_skill,
    appeal_decision,
    show_report,
    list_publishers,
    show_publisher,
    export_skills,
]
