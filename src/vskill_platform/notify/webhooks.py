"""What people do with webhooks: make one, change it, give it a new secret, try it, and send something again."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from typing import NamedTuple

import msgspec

from vskill_platform.domain.errors import AddressForbidden, Conflict, InvalidInput, RateLimited
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.domain.webhook import (
    ALL_KINDS,
    OPERATOR_OWNER,
    PUBLISHER_KINDS,
    TEST_EVENT,
    Delivery,
    Webhook,
    check_kinds,
    event_number,
)
from vskill_platform.ingest.url_guard import check_receiver
from vskill_platform.notify.following import encode_body
from vskill_platform.notify.sending import judge_of
from vskill_platform.notify.signing import new_secret
from vskill_platform.ports.commit import Operation
from vskill_platform.stores.webhook_deliveries import get_delivery, sending, waiting_until
from vskill_platform.stores.webhooks import (
    FoundWebhook,
    add_webhook,
    changing,
    find_health,
    get_webhook,
    keeping_health,
    remove_webhook,
    replace_secret,
)
from vskill_platform.worker_context import current_env

MAX_DESCRIPTION_CHARS = 200
BY_HAND_PER_HOUR = 60
_TRIES = 3


class Made(NamedTuple):
    """A receiver and its secret, which is told now and never again."""

    webhook: Webhook
    secret: str


class Rotated(NamedTuple):
    """The new secret, which is told now and never again, and until when the one before signs too."""

    secret: str
    overlap_until: str


async def create_webhook(
    url: str, *, kinds: Sequence[str], owner: str = OPERATOR_OWNER, description: str = "", by: str = ""
) -> Made:
    """A receiver of what happens from now on. Raises InvalidInput and AddressForbidden."""
    env = current_env("events")
    now, secret = iso_from_ms(env.clock.now_ms()), new_secret()
    webhook = Webhook(
        id=f"wh_{env.random_id().hex}",
        owner=owner,
        url=check_url(url),
        kinds=check_kinds(kinds, allowed=_allowed(owner)),
        description=_check_description(description),
        after=await env.events.last_sequence(),
        created_at=now,
        updated_at=now,
        created_by=by,
    )
    for attempt in range(_TRIES):
        try:
            await add_webhook(webhook, secret=secret)
            break
        except Conflict:  # another first receiver came at the same time and has made the cursor
            if attempt == _TRIES - 1:
                raise
    return Made(webhook, secret)


async def change_webhook(
    identity: str,
    *,
    owner: str | None = None,
    url: str | None = None,
    kinds: Sequence[str] | None = None,
    is_enabled: bool | None = None,
) -> Webhook:
    """A receiver with what is given changed. One that is switched on again is told of what happens from then on."""
    found = await get_webhook(identity, owner=owner)
    changes: dict[str, object] = {}
    if url is not None:
        changes["url"] = check_url(url)
    if kinds is not None:
        changes["kinds"] = check_kinds(kinds, allowed=_allowed(found.webhook.owner))
    operations: list[Operation] = []
    if is_enabled is not None and is_enabled != found.webhook.is_enabled:
        changes |= {"is_enabled": is_enabled, "disabled_because": ""}
        if is_enabled:
            changes["after"] = await current_env("events").events.last_sequence()
            operations = await _forgetting_failures(found)
    changed, put = changing(found, **changes)
    await current_env("writes").writes.commit([put, *operations])
    return changed


async def delete_webhook(identity: str, *, owner: str | None = None) -> None:
    """Forget a receiver. Raises NotFound, also where it is somebody else's."""
    await remove_webhook(await get_webhook(identity, owner=owner))


async def rotate_secret(identity: str, *, owner: str | None = None) -> Rotated:
    """A new secret for a receiver."""
    await get_webhook(identity, owner=owner)
    secret = new_secret()
    return Rotated(secret, await replace_secret(identity, secret=secret))


async def send_test(identity: str, *, owner: str | None = None) -> Delivery:
    """Put a message in line that says nothing but that it came."""
    env = current_env("events")
    webhook = (await get_webhook(identity, owner=owner)).webhook
    if not webhook.is_enabled:
        raise InvalidInput("The webhook is switched off. Switch it on first.")
    await _count_by_hand(webhook)
    now_ms, name = env.clock.now_ms(), env.random_id().hex
    id = f"test_{name}"
    delivery = Delivery(
        webhook=webhook.id,
        number=f"{event_number(await env.events.last_sequence())}-{name[:8]}",
        id=id,
        kind=TEST_EVENT,
        body=encode_body(id, TEST_EVENT, at_ms=now_ms, data={"webhook": webhook.id, "message": "It works."}),
        created_at=iso_from_ms(now_ms),
    )
    await env.writes.commit([sending(delivery, due_ms=now_ms)])
    return delivery


async def redeliver(identity: str, number: str, *, owner: str | None = None) -> Delivery:
    """Send something again, with its id and body as they were, and tries from the start."""
    env = current_env("writes")
    await _count_by_hand((await get_webhook(identity, owner=owner)).webhook)
    found = await get_delivery(identity, number)
    again = msgspec.structs.replace(found.delivery, tries=0)
    await env.writes.commit([waiting_until(found, again, due_ms=env.clock.now_ms())])
    return again


def check_url(url: str) -> str:
    """The address, put together again. Raises AddressForbidden for one that nothing is sent to; looks no name up."""
    settings = current_env("settings").settings
    address = check_receiver(url.strip(), protocols=settings.webhook_protocols)
    try:
        literal = ip_address(address.host)
    except ValueError:
        return address.url
    reason = judge_of(settings)(literal)
    if reason is not None:
        raise AddressForbidden(f"The address '{address.url}' is not public ({reason}). It cannot be used.")
    return address.url


async def _count_by_hand(webhook: Webhook) -> None:
    """Raise RateLimited where a publisher has us send too much at its word: an address need not be its own."""
    if webhook.owner == OPERATOR_OWNER:
        return
    limiter = current_env("limiter").limiter
    taken = await limiter.take(f"webhooks-by-hand:{webhook.owner}", limit=BY_HAND_PER_HOUR, window_s=3600)
    if not taken.allowed:
        raise RateLimited(
            f"{BY_HAND_PER_HOUR} messages an hour are sent by hand for one publisher. Try again later.",
            retry_after_s=taken.retry_after_s,
        )


async def _forgetting_failures(found: FoundWebhook) -> list[Operation]:
    health, version = await find_health(found.webhook.id)
    return [keeping_health(msgspec.structs.replace(health, failing_since=None), if_version=version)]


def _allowed(owner: str) -> tuple[str, ...]:
    return ALL_KINDS if owner == OPERATOR_OWNER else PUBLISHER_KINDS


def _check_description(text: str) -> str:
    text = text.strip()
    if len(text) > MAX_DESCRIPTION_CHARS:
        raise InvalidInput(f"A description has at most {MAX_DESCRIPTION_CHARS} characters.")
    return text
