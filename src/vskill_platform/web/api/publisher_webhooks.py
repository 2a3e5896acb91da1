"""Webhooks of a publisher, for its members: told of what happens to its own repositories and skills."""

from __future__ import annotations

from litestar import delete, get, post, put
from litestar.params import JSONBody

from vskill_platform.accounts.ownership import require_member
from vskill_platform.domain.errors import AddressForbidden, Conflict, NotAllowed, NotFound
from vskill_platform.domain.webhook import publisher_owner
from vskill_platform.notify.webhooks import (
    change_webhook,
    create_webhook,
    delete_webhook,
    redeliver,
    rotate_secret,
    send_test,
)
from vskill_platform.web.access import caller_of
from vskill_platform.web.api.owning import Handle, owned
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

TAGS = ["publishers"]
_OF = "/api/v1/publishers/{name:str}/webhooks"
_ONE = f"{_OF}/{{identity:str}}"
_ERRORS = (NotFound, NotAllowed, Conflict)


async def _owner(request: PageRequest, handle: str) -> str:
    """The publisher as an owner of webhooks. Raises NotFound, or NotAllowed for who is no member."""
    return publisher_owner(await require_member(caller_of(request), handle))


@get(_OF, summary="List a publisher's webhooks", tags=TAGS, opt=owned(WebhookList(webhooks=[WEBHOOK]), errors=_ERRORS))
async def list_own_webhooks(request: PageRequest, name: Handle) -> WebhookList:
    """The addresses that are told of what happens to the publisher's skills."""
    return WebhookList(webhooks=await view_webhooks(owner=await _owner(request, name)))


@post(
    _OF,
    summary="Make a webhook for a publisher",
    tags=TAGS,
    status_code=200,
    opt=owned(
        SECRET,
        body=NewWebhook(url="https://hooks.example.com/skills", kinds=["skill.*", "submission.*"]),
        errors=(*_ERRORS, AddressForbidden),
    ),
)
async def make_own_webhook(request: PageRequest, name: Handle, data: JSONBody[NewWebhook]) -> WebhookSecret:
    """Told from now on. The answer has the secret that signs, once."""
    owner, by = await _owner(request, name), caller_of(request).name
    made = await create_webhook(data.url, kinds=data.kinds, owner=owner, description=data.description, by=by)
    return tell_secret(made.webhook.id, made.secret)


@put(
    _ONE,
    summary="Change a publisher's webhook, or switch it on or off",
    tags=TAGS,
    opt=owned(
        WebhookResult(webhook=WEBHOOK, detail="Changed."),
        body=WebhookChange(is_enabled=False),
        errors=(*_ERRORS, AddressForbidden),
    ),
)
async def change_own_webhook(
    request: PageRequest, name: Handle, identity: WebhookId, data: JSONBody[WebhookChange]
) -> WebhookResult:
    """What is switched on again is told of what happens from then on."""
    owner = await _owner(request, name)
    webhook = await change_webhook(identity, owner=owner, url=data.url, kinds=data.kinds, is_enabled=data.is_enabled)
    return WebhookResult(webhook=view_webhook(webhook), detail="Changed.")


@delete(
    _ONE,
    summary="Remove a publisher's webhook",
    tags=TAGS,
    status_code=200,
    opt=owned(REMOVED, errors=_ERRORS),
)
async def remove_own_webhook(request: PageRequest, name: Handle, identity: WebhookId) -> Removed:
    """What is still to be sent to it is dropped."""
    owner = await _owner(request, name)
    await delete_webhook(identity, owner=owner)
    return Removed(id=identity)


@post(
    f"{_ONE}/rotate",
    summary="Give a publisher's webhook a new secret",
    tags=TAGS,
    status_code=200,
    opt=owned(SECRET, errors=_ERRORS),
)
async def rotate_own_secret(request: PageRequest, name: Handle, identity: WebhookId) -> WebhookSecret:
    """The answer has the new secret, once. The one before signs too for a day."""
    owner = await _owner(request, name)
    made = await rotate_secret(identity, owner=owner)
    return tell_secret(identity, made.secret, before=f" The one before also signs until {made.overlap_until}.")


@post(
    f"{_ONE}/test",
    summary="Send a test message to a publisher's webhook",
    tags=TAGS,
    status_code=200,
    opt=owned(TESTED, errors=_ERRORS),
)
async def test_own_webhook(request: PageRequest, name: Handle, identity: WebhookId) -> DeliveryResult:
    """An event `webhook.test` goes the way that all others go."""
    owner = await _owner(request, name)
    return DeliveryResult(delivery=view_delivery(await send_test(identity, owner=owner)))


@get(
    f"{_ONE}/deliveries",
    summary="List deliveries to a publisher's webhook",
    tags=TAGS,
    opt=owned(DeliveryList(deliveries=[DELIVERY]), errors=_ERRORS),
)
async def list_own_deliveries(request: PageRequest, name: Handle, identity: WebhookId) -> DeliveryList:
    """The newest, with what came of the last try."""
    owner = await _owner(request, name)
    return DeliveryList(deliveries=await view_deliveries(identity, owner=owner))


@post(
    f"{_ONE}/deliveries/{{number:str}}/redeliver",
    summary="Deliver something to a publisher's webhook again",
    tags=TAGS,
    status_code=200,
    opt=owned(TESTED, errors=_ERRORS),
)
async def redeliver_own(
    request: PageRequest, name: Handle, identity: WebhookId, number: DeliveryNumber
) -> DeliveryResult:
    """With its id and body as they were, and tries from the start."""
    owner = await _owner(request, name)
    return DeliveryResult(delivery=view_delivery(await redeliver(identity, number, owner=owner)))


PUBLISHER_WEBHOOK_ROUTES = [
    list_own_webhooks,
    make_own_webhook,
    change_own_webhook,
    remove_own_webhook,
    rotate_own_secret,
    test_own_webhook,
    list_own_deliveries,
    redeliver_own,
]
