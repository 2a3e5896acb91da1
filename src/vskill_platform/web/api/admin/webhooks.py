"""Webhooks, for the operator: every receiver, its deliveries, and what can be done with them.

An address may hold a secret of its receiver's, so only those who manage webhooks see it.
"""

from __future__ import annotations

from litestar import get, post
from litestar.params import JSONBody

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import AddressForbidden, Conflict, NotFound
from vskill_platform.notify.webhooks import (
    change_webhook,
    create_webhook,
    delete_webhook,
    redeliver,
    rotate_secret,
    send_test,
)
from vskill_platform.web.access import caller_of, needs
from vskill_platform.web.acting import act
from vskill_platform.web.api.admin.requests import Reason
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.webhook_views import (
    DELIVERY,
    REMOVED,
    SECRET,
    TESTED,
    WEBHOOK,
    DeliveryList,
    DeliveryNumber,
    DeliveryResult,
    NewWebhook,
    Removed,
    WebhookChange,
    WebhookId,
    WebhookList,
    WebhookResult,
    WebhookSecret,
    tell_secret,
    view_deliveries,
    view_delivery,
    view_webhook,
    view_webhooks,
)
from vskill_platform.web.pages.rendering import PageRequest

TAGS = ["admin"]
_MANAGE = needs(Permission.MANAGE_ALERTS)
_REASON = Reason(reason="The chat has moved.")


class NewOperatorWebhook(NewWebhook, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Where to send to, what, and why."""

    reason: str


class OperatorWebhookChange(WebhookChange, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What is to be changed, and why."""

    reason: str


@get(
    "/api/v1/admin/webhooks",
    summary="List webhooks",
    tags=TAGS,
    opt=described(WebhookList(webhooks=[WEBHOOK]), access=_MANAGE),
)
async def list_all_webhooks() -> WebhookList:
    """The operator's and every publisher's, the oldest first."""
    return WebhookList(webhooks=await view_webhooks())


@post(
    "/api/v1/admin/webhooks",
    summary="Make a webhook",
    tags=TAGS,
    status_code=200,
    opt=described(
        SECRET,
        body=NewOperatorWebhook(
            url="https://hooks.example.com/alerts", kinds=["alert.*"], reason="Alerts to the chat."
        ),
        errors=(AddressForbidden, Conflict),
        access=_MANAGE,
    ),
)
async def make_webhook(request: PageRequest, data: JSONBody[NewOperatorWebhook]) -> WebhookSecret:
    """Tell an address of what happens from now on. The answer has the secret that signs, once."""
    made = await act(
        request,
        "webhooks.create",
        subject="webhooks",
        reason=data.reason,
        run=lambda: create_webhook(
            data.url, kinds=data.kinds, description=data.description, by=caller_of(request).name
        ),
    )
    return tell_secret(made.webhook.id, made.secret)


@post(
    "/api/v1/admin/webhooks/{identity:str}/change",
    summary="Change a webhook, or switch it on or off",
    tags=TAGS,
    status_code=200,
    opt=described(
        WebhookResult(webhook=WEBHOOK, detail="Changed."),
        body=OperatorWebhookChange(is_enabled=False, reason="The chat has moved."),
        errors=(NotFound, AddressForbidden, Conflict),
        access=_MANAGE,
    ),
)
async def change_one_webhook(
    request: PageRequest, identity: WebhookId, data: JSONBody[OperatorWebhookChange]
) -> WebhookResult:
    """What is switched on again is told of what happens from then on."""
    webhook = await act(
        request,
        "webhooks.change",
        subject=identity,
        reason=data.reason,
        run=lambda: change_webhook(identity, url=data.url, kinds=data.kinds, is_enabled=data.is_enabled),
    )
    return WebhookResult(webhook=view_webhook(webhook), detail="Changed.")


@post(
    "/api/v1/admin/webhooks/{identity:str}/remove",
    summary="Remove a webhook",
    tags=TAGS,
    status_code=200,
    opt=described(REMOVED, body=_REASON, errors=(NotFound, Conflict), access=_MANAGE),
)
async def remove_one_webhook(request: PageRequest, identity: WebhookId, data: JSONBody[Reason]) -> Removed:
    """What is still to be sent to it is dropped."""
    await act(request, "webhooks.remove", subject=identity, reason=data.reason, run=lambda: delete_webhook(identity))
    return Removed(id=identity)


@post(
    "/api/v1/admin/webhooks/{identity:str}/rotate",
    summary="Give a webhook a new secret",
    tags=TAGS,
    status_code=200,
    opt=described(SECRET, body=_REASON, errors=(NotFound, Conflict), access=_MANAGE),
)
async def rotate_one_secret(request: PageRequest, identity: WebhookId, data: JSONBody[Reason]) -> WebhookSecret:
    """The answer has the new secret, once. The one before signs too for a day."""
    made = await act(
        request, "webhooks.rotate", subject=identity, reason=data.reason, run=lambda: rotate_secret(identity)
    )
    return tell_secret(identity, made.secret, before=f" The one before also signs until {made.overlap_until}.")


@post(
    "/api/v1/admin/webhooks/{identity:str}/test",
    summary="Send a test message",
    tags=TAGS,
    status_code=200,
    opt=described(TESTED, body=_REASON, errors=(NotFound,), access=_MANAGE),
)
async def test_one_webhook(request: PageRequest, identity: WebhookId, data: JSONBody[Reason]) -> DeliveryResult:
    """An event `webhook.test` goes the way that all others go."""
    delivery = await act(
        request, "webhooks.test", subject=identity, reason=data.reason, run=lambda: send_test(identity)
    )
    return DeliveryResult(delivery=view_delivery(delivery))


@get(
    "/api/v1/admin/webhooks/{identity:str}/deliveries",
    summary="List a webhook's deliveries",
    tags=TAGS,
    opt=described(DeliveryList(deliveries=[DELIVERY]), errors=(NotFound,), access=_MANAGE),
)
async def list_one_webhooks_deliveries(identity: WebhookId) -> DeliveryList:
    """The newest, with what came of the last try."""
    return DeliveryList(deliveries=await view_deliveries(identity))


@post(
    "/api/v1/admin/webhooks/{identity:str}/deliveries/{number:str}/redeliver",
    summary="Deliver something again",
    tags=TAGS,
    status_code=200,
    opt=described(TESTED, body=_REASON, errors=(NotFound, Conflict), access=_MANAGE),
)
async def redeliver_one(
    request: PageRequest, identity: WebhookId, number: DeliveryNumber, data: JSONBody[Reason]
) -> DeliveryResult:
    """With its id and body as they were, and tries from the start."""
    delivery = await act(
        request, "webhooks.redeliver", subject=identity, reason=data.reason, run=lambda: redeliver(identity, number)
    )
    return DeliveryResult(delivery=view_delivery(delivery))


WEBHOOK_ROUTES = [
    list_all_webhooks,
    make_webhook,
    change_one_webhook,
    remove_one_webhook,
    rotate_one_secret,
    test_one_webhook,
    list_one_webhooks_deliveries,
    redeliver_one,
]
