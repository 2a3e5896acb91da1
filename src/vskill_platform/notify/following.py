"""The outbox of webhooks: reads on in the event log, and puts what receivers want in line for them.

The cursor moves in the commit that writes the deliveries, by compare-and-set. So each event is put in line once for each
receiver, however often this dies and however many processes do it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import structlog

from vskill_platform.domain.errors import Conflict, InvalidRepositoryUrl, MalformedRecord
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.domain.webhook import (
    OPERATOR_OWNER,
    PUBLISHER_KINDS,
    Delivery,
    Webhook,
    event_id,
    event_number,
    publisher_owner,
    wants,
)
from vskill_platform.ports.commit import ABSENT, Operation
from vskill_platform.ports.events import Event
from vskill_platform.stores.news import read_skill, read_step
from vskill_platform.stores.public_news import public_data, public_kind
from vskill_platform.stores.publishers import owner_of, owner_of_repository
from vskill_platform.stores.webhook_deliveries import sending
from vskill_platform.stores.webhooks import find_cursor, list_webhooks, moving_cursor
from vskill_platform.worker_context import current_env

_PAGE = 200
_MOST_DELIVERIES = 5000
_ALERT = "alert."
_log = structlog.get_logger(__name__)


class Followed(NamedTuple):
    """How many events were read, and how many deliveries they made. Neither: there was nothing new, or nobody to tell."""

    events: int
    deliveries: int


class News(NamedTuple):
    """An event as receivers get it."""

    kind: str
    data: dict[str, object]


NOTHING = Followed(0, 0)


async def follow_events(*, wait_s: float = 0.0) -> Followed | None:
    """Read on once, waiting up to `wait_s` for something. None where there is nobody to tell."""
    known = await find_cursor()
    if known is None:
        return await _begin()
    cursor, version = known
    page = await current_env("events").events.read(cursor.sequence, limit=_PAGE, wait_s=wait_s)
    if page.reset:
        _log.error(
            "webhook_events_missed", after=cursor.sequence, last=page.last, advice="Read what changed by the API."
        )
        return await _commit([], sequence=page.last, version=version, events=0)
    if not page.events:
        return NOTHING
    # Read after the page: whoever was there before an event happened is among them.
    receivers = [webhook for webhook in await list_webhooks() if webhook.is_enabled]
    deliveries, last, count = await _make_deliveries(page.events, receivers)
    return await _commit(deliveries, sequence=last, version=version, events=count)


async def _begin() -> Followed | None:
    """A receiver without a cursor came while the last other one went: begin where it wants to."""
    receivers = await list_webhooks()
    if not receivers:
        return None
    return await _commit([], sequence=min(webhook.after for webhook in receivers), version=ABSENT, events=0)


async def _commit(deliveries: Sequence[Operation], *, sequence: int, version: int, events: int) -> Followed:
    try:
        await current_env("writes").writes.commit([moving_cursor(sequence, if_version=version), *deliveries])
    except Conflict:
        return NOTHING
    return Followed(events, len(deliveries))


async def _make_deliveries(events: Sequence[Event], receivers: Sequence[Webhook]) -> tuple[list[Operation], int, int]:
    """The deliveries of as many of the events as fit one commit, up to which event, and how many events that is."""
    deliveries: list[Operation] = []
    for count, event in enumerate(events, start=1):
        deliveries += await _deliveries_of(event, receivers)
        if len(deliveries) >= _MOST_DELIVERIES:
            return deliveries, event.sequence, count
    return deliveries, events[-1].sequence, len(events)


async def _deliveries_of(event: Event, receivers: Sequence[Webhook]) -> list[Operation]:
    news = tell_receivers(event)
    if news is None:
        return []
    wanting = [one for one in receivers if event.sequence > one.after and wants(one.kinds, news.kind)]
    if any(one.owner != OPERATOR_OWNER for one in wanting):
        owner = await _find_owner(event) if news.kind in PUBLISHER_KINDS else None
        wanting = [one for one in wanting if one.owner in (OPERATOR_OWNER, owner)]
    body = encode_body(event_id(event.sequence, event.at_ms), news.kind, at_ms=event.at_ms, data=news.data)
    return [sending(_delivery(one, event, news, body), due_ms=event.at_ms) for one in wanting]


def tell_receivers(event: Event) -> News | None:
    """What receivers are told of an event: what strangers are, and of alerts, which only the operator's receivers get."""
    data = _alert_data(event) if event.kind.startswith(_ALERT) else public_data(event)
    return None if data is None else News(public_kind(event), data)


def _alert_data(event: Event) -> dict[str, object] | None:
    try:
        return msgspec.json.decode(event.data, type=dict[str, object])
    except msgspec.DecodeError:
        return None


def encode_body(identity: str, kind: str, *, at_ms: int, data: dict[str, object]) -> str:
    """The body of a webhook, as it is kept, signed and sent."""
    return msgspec.json.encode({"id": identity, "type": kind, "at": iso_from_ms(at_ms), "data": data}).decode()


def _delivery(webhook: Webhook, event: Event, news: News, body: str) -> Delivery:
    return Delivery(
        webhook=webhook.id,
        number=event_number(event.sequence),
        id=event_id(event.sequence, event.at_ms),
        kind=news.kind,
        body=body,
        created_at=iso_from_ms(current_env("clock").clock.now_ms()),
    )


async def _find_owner(event: Event) -> str | None:
    """The publisher whose skill or repository an event is about, if one has proven to own it."""
    step, skill = read_step(event), read_skill(event)
    repo_url = step.repo_url if step is not None else skill.repo_url if skill is not None else ""
    try:
        found = await owner_of_repository(repo_url) if repo_url else await owner_of(event.subject)
    except (InvalidRepositoryUrl, MalformedRecord) as error:
        _log.warning("webhook_owner_unknown", subject=event.subject, code=error.code, error=error.message)
        return None
    return None if found is None else publisher_owner(found)
