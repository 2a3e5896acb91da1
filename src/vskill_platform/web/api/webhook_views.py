"""Webhooks as the API has them, for the operator and for publishers alike. A secret is told when it is made, and nowhere else."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar.params import PathParameter

from vskill_platform.domain.webhook import MOST_TRIES, Answer, Delivery, DeliveryStatus, Webhook, handle_of
from vskill_platform.stores.webhook_deliveries import list_deliveries
from vskill_platform.stores.webhooks import WebhookHealth, get_webhook, list_health, list_webhooks

WebhookId = Annotated[str, PathParameter(min_length=1, max_length=100, description="Id of the webhook.")]
DeliveryNumber = Annotated[str, PathParameter(min_length=1, max_length=100, description="Number of the delivery.")]
Kinds = Annotated[
    list[str], msgspec.Meta(max_length=50, description="Names of events; `skill.*` is all that begin so.")
]
Url = Annotated[str, msgspec.Meta(min_length=1, max_length=2048)]


class NewWebhook(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Where to send to, and what."""

    url: Url
    kinds: Kinds
    description: Annotated[str, msgspec.Meta(max_length=200)] = ""


class WebhookChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What is to be changed; what is null stays."""

    url: Url | None = None
    kinds: Kinds | None = None
    is_enabled: bool | None = None


class WebhookView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A receiver and how it fares. `owner` is a publisher's handle, or empty for the operator."""

    id: str
    owner: str
    url: str
    kinds: list[str]
    description: str
    is_enabled: bool
    disabled_because: str
    created_at: str
    updated_at: str
    last: Answer | None = None
    last_success_at: str | None = None
    failing_since: str | None = None


class WebhookList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The receivers, the oldest first."""

    webhooks: list[WebhookView]


class WebhookResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The receiver, and what that means."""

    webhook: WebhookView
    detail: str


class WebhookSecret(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The secret that signs from now on. It is told here and never again."""

    id: str
    secret: str
    detail: str


class Removed(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What was removed."""

    id: str
    detail: str = "The webhook is gone, and its secret with it."


class DeliveryView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One event for one receiver: what is sent, how often it was tried, and what came of the last try."""

    number: str
    id: str
    kind: str
    status: DeliveryStatus
    tries: int
    most_tries: int
    created_at: str
    next_at: str | None
    last: Answer | None
    body: str


class DeliveryList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The newest deliveries, the newest first."""

    deliveries: list[DeliveryView]


class DeliveryResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The delivery, and what becomes of it."""

    delivery: DeliveryView
    detail: str = "It stands in line, and is sent in a moment."


ANSWER = Answer(at="2026-11-16T09:00:01.000Z", status=204, duration_ms=42)
WEBHOOK = WebhookView(
    id="wh_0f3a",
    owner="",
    url="https://hooks.example.com/skills",
    kinds=["skill.*"],
    description="Chat",
    is_enabled=True,
    disabled_because="",
    created_at="2026-11-16T09:00:00.000Z",
    updated_at="2026-11-16T09:00:00.000Z",
    last=ANSWER,
    last_success_at="2026-11-16T09:00:01.000Z",
)
DELIVERY = DeliveryView(
    number="9999999999999957",
    id="evt_42_1771668000000",
    kind="skill.published",
    status=DeliveryStatus.DELIVERED,
    tries=1,
    most_tries=MOST_TRIES,
    created_at="2026-11-16T09:00:00.000Z",
    next_at=None,
    last=ANSWER,
    body='{"id":"evt_42_1771668000000","type":"skill.published","at":"2026-11-16T09:00:00.000Z","data":{}}',
)
SECRET = WebhookSecret(id="wh_0f3a", secret="whsec_…", detail="Keep it now: it is not shown again.")
REMOVED = Removed(id="wh_0f3a")
TESTED = DeliveryResult(delivery=DELIVERY)


def view_webhook(webhook: Webhook, health: WebhookHealth | None = None) -> WebhookView:
    """A receiver without what only the store needs."""
    own = ("id", "url", "description", "is_enabled", "disabled_because", "created_at", "updated_at")
    owner = handle_of(webhook.owner)
    view = WebhookView(owner=owner, kinds=list(webhook.kinds), **{name: getattr(webhook, name) for name in own})
    if health is None:
        return view
    return msgspec.structs.replace(
        view, last=health.last, last_success_at=health.last_success_at, failing_since=health.failing_since
    )


def view_delivery(delivery: Delivery) -> DeliveryView:
    """A delivery as it is shown."""
    own = ("number", "id", "kind", "status", "tries", "created_at", "next_at", "last", "body")
    return DeliveryView(most_tries=MOST_TRIES, **{name: getattr(delivery, name) for name in own})


async def view_webhooks(*, owner: str | None = None) -> list[WebhookView]:
    """The receivers and how they fare: all, or an owner's."""
    health = await list_health()
    return [view_webhook(webhook, health.get(webhook.id)) for webhook in await list_webhooks(owner=owner)]


async def view_deliveries(identity: str, *, owner: str | None = None) -> list[DeliveryView]:
    """The newest deliveries to a receiver. Raises NotFound, also where it is somebody else's."""
    await get_webhook(identity, owner=owner)
    return [view_delivery(delivery) for delivery in await list_deliveries(identity)]


def tell_secret(identity: str, secret: str, *, before: str = "") -> WebhookSecret:
    """A secret, told once."""
    detail = f"The secret is {secret} . Keep it now: it is not shown again.{before}"
    return WebhookSecret(id=identity, secret=secret, detail=detail)
