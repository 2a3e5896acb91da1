"""Webhooks: who is told of what, and how it went."""

from __future__ import annotations

from litestar import Response, get

from vskill_platform.domain.access import Permission
from vskill_platform.domain.webhook import OPERATOR_EVENTS, SKILL_EVENTS, SUBMISSION_EVENTS
from vskill_platform.stores.webhooks import find_health, get_webhook
from vskill_platform.web.access import ACCESS, needs
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.api.webhook_views import WebhookId, view_deliveries, view_webhook, view_webhooks
from vskill_platform.web.pages.rendering import PageRequest

_GROUPS = {"Alerts and the queue": OPERATOR_EVENTS, "Submissions": SUBMISSION_EVENTS, "Skills": SKILL_EVENTS}


@get("/admin/webhooks", opt={ACCESS: needs(Permission.MANAGE_ALERTS)})
async def show_webhooks(request: PageRequest) -> Response[str]:
    """Every receiver, and the form that makes another."""
    return await admin_page(
        request, "admin/webhooks.html", section="webhooks", webhooks=await view_webhooks(), groups=_GROUPS
    )


@get("/admin/webhooks/{identity:str}", opt={ACCESS: needs(Permission.MANAGE_ALERTS)})
async def show_webhook(request: PageRequest, identity: WebhookId) -> Response[str]:
    """One receiver, its newest deliveries, and its buttons."""
    found = await get_webhook(identity)
    health, _ = await find_health(identity)
    return await admin_page(
        request,
        "admin/webhook.html",
        section="webhooks",
        webhook=view_webhook(found.webhook, health),
        deliveries=await view_deliveries(identity),
    )
