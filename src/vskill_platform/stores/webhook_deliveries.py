"""Deliveries of webhooks: `webhook-delivery:{webhook}:{number}`, due when they are to be tried (again).

The due index is the line they stand in, one for each receiver, so that a slow one holds up nobody else. A delivery is claimed by
compare-and-set and is due again when its claim runs out: whoever dies with it loses nothing, and it is sent again by its id.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from vskill_platform.domain.errors import NotFound, StoreUnavailable
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.domain.webhook import (
    DELIVERY_PREFIX,
    Delivery,
    DeliveryStatus,
    deliveries_prefix,
    delivery_key,
)
from vskill_platform.ports.commit import ABSENT, Put
from vskill_platform.ports.kv import DueEntry, DueIndex
from vskill_platform.stores.reads import read_keys, require_readable
from vskill_platform.stores.records import decode_record, encode_changed, encode_record
from vskill_platform.worker_context import current_env

MOST_SHOWN = 50
_deliveries = msgspec.json.Decoder(Delivery)


class FoundDelivery(NamedTuple):
    """A delivery with its bytes and version."""

    delivery: Delivery
    value: bytes
    version: int


def sending(delivery: Delivery, *, due_ms: int) -> Put:
    """The operation that puts a new delivery in line."""
    waiting = msgspec.structs.replace(delivery, next_at=iso_from_ms(due_ms))
    return Put(_key(delivery), encode_record(waiting), if_version=ABSENT, due_ms=due_ms)


def waiting_until(found: FoundDelivery, changed: Delivery, *, due_ms: int) -> Put:
    """The operation that lets a delivery come up again at a moment, if nobody has touched it meanwhile."""
    waiting = msgspec.structs.replace(changed, status=DeliveryStatus.PENDING, next_at=iso_from_ms(due_ms))
    return Put(_key(changed), _encode(found, waiting), if_version=found.version, due_ms=due_ms)


def ending(found: FoundDelivery, changed: Delivery) -> Put:
    """The operation that takes a delivery out of the line; it can be looked at for a while."""
    ended = msgspec.structs.replace(changed, next_at=None)
    kept_s = current_env("settings").settings.webhook_deliveries_kept_s
    return Put(_key(changed), _encode(found, ended), if_version=found.version, ttl_s=kept_s)


async def due_deliveries(*, webhook: str | None = None, limit: int) -> list[DueEntry]:
    """What is to be sent now, the longest due first: to anybody, or to one receiver."""
    env = current_env("kv")
    if not isinstance(env.kv, DueIndex):
        raise StoreUnavailable("This store has no index of what is due; webhooks need one.")
    prefix = DELIVERY_PREFIX if webhook is None else deliveries_prefix(webhook)
    return (await env.kv.list_due(prefix, before_ms=env.clock.now_ms(), limit=limit)).entries


def decode_delivery(key: str, value: bytes) -> Delivery:
    """The delivery in a value. Raises MalformedRecord."""
    return decode_record(key, value, decoder=_deliveries)


async def get_delivery(webhook: str, number: str) -> FoundDelivery:
    """One delivery. Raises NotFound where it is kept no longer."""
    key = delivery_key(webhook, number)
    entry = await current_env("kv").kv.get(key)
    if entry is None:
        raise NotFound(f"There is no delivery '{number[:60]}' of this webhook. Old ones are kept no longer.")
    return FoundDelivery(decode_delivery(key, entry.value), entry.value, entry.version)


async def list_deliveries(webhook: str, *, limit: int = MOST_SHOWN) -> list[Delivery]:
    """The newest deliveries to a receiver, the newest first. Raises StoreUnavailable where they cannot be listed."""
    page = await current_env("kv").kv.list(deliveries_prefix(webhook), limit=limit)
    return require_readable(await read_keys(page.keys, decode_delivery))


def _key(delivery: Delivery) -> str:
    return delivery_key(delivery.webhook, delivery.number)


def _encode(found: FoundDelivery, changed: Delivery) -> bytes:
    return encode_changed(changed, key=_key(changed), previous=found.value)
