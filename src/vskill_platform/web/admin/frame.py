"""What every page of the panel has: the sections that the caller may see, the pause, and answers that nobody keeps."""

from __future__ import annotations

from typing import Any, NamedTuple

from litestar import Response

from vskill_platform.domain.access import Permission
from vskill_platform.stores.pause import get_pause
from vskill_platform.web.access import caller_of
from vskill_platform.web.pages.rendering import PageRequest, page


class Section(NamedTuple):
    """A part of the panel. `permission` is what one needs to see it."""

    name: str
    title: str
    href: str
    permission: Permission = Permission.SEE_PANEL


SECTIONS = (
    Section("overview", "Overview", "/admin"),
    Section("queue", "Queue", "/admin/queue"),
    Section("stuck", "Stuck", "/admin/stuck"),
    Section("submissions", "Submissions", "/admin/submissions"),
    Section("review", "Review desk", "/admin/review"),
    Section("reports", "Reports", "/admin/reports"),
    Section("skills", "Skills", "/admin/skills"),
    Section("blocklist", "Blocklist", "/admin/blocklist"),
    Section("vendors", "Vendors", "/admin/vendors"),
    Section("audit", "Audit log", "/admin/audit", Permission.SEE_AUDIT),
    Section("scanners", "Scanners", "/admin/scanners"),
    Section("rules", "Rules", "/admin/rules"),
    Section("publishers", "Publishers", "/admin/publishers", Permission.MANAGE_ACCOUNTS),
    Section("alerts", "Alerts", "/admin/alerts"),
    Section("webhooks", "Webhooks", "/admin/webhooks", Permission.MANAGE_ALERTS),
    Section("accounts", "Accounts", "/admin/accounts", Permission.MANAGE_ACCOUNTS),
    Section("settings", "Settings", "/admin/settings", Permission.SEE_SETTINGS),
)


async def admin_page(request: PageRequest, template: str, *, section: str, **context: Any) -> Response[str]:
    """A page of the panel, with `caller`, `sections` and `pause` beside its own context."""
    caller = caller_of(request)
    around: dict[str, Any] = {
        "caller": caller,
        "may": lambda name: caller.may(Permission(name)),
        "admin_section": section,
        "sections": [item for item in SECTIONS if caller.may(item.permission)],
        "pause": await get_pause(),
    }
    return page(request, template, headers={"Cache-Control": "no-store"}, **around, **context)
