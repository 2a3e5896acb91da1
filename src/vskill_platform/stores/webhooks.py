"""Receivers of webhooks: `webhook:{id}`, their secrets apart from them, and how they fare.

The cursor of the outbox is there exactly while there is a receiver: it is made in the commit of the first one and goes with
the last, so that a registry without webhooks writes nothing and a first receiver misses nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from vskill_platform.domain.errors import InvalidInput, NotFound, StoreUnavailable
from vskill_platform.domain.records import Record
from vskill_platform.domain.times import iso_from_ms, ms_from_iso
from vskill_platform.domain.webhook import (
    HEALTH_PREFIX,
    WEBHOOK_PREFIX,
    Answer,
    Webhook,
    health_key,
    secret_key,
    webhook_key,
)
from vskill_platform.ports.commit import ABSENT, Delete, Operation, Put
from vskill_platform.stores.reads import read_prefix, require_complete
from vskill_platform.stores.records import decode_record, encode_changed, encode_record
from vskill_platform.worker_context import current_env

CURSOR_KEY = "webhooks:cursor"
MOST_WEBHOOKS = 1000
MOST_OF_OWNER = 20
OVERLAP_S = 86_400.0
"""How long the secret before the newest still signs, so that a receiver can change over without missing anything."""


class Cursor(Record, frozen=True, kw_only=True, rename="camel"):
    """How far the log has been followed."""

    sequence: int


class SigningSecret(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One secret, and until when it signs; null is for good."""

    secret: str
    until: str | None = None

    def __repr__(self) -> str:
        """Without the secret: a repr ends up in logs."""
        return f"SigningSecret(until={self.until!r})"


class SecretsRecord(Record, frozen=True, kw_only=True, rename="camel"):
    """The secrets of a receiver, the newest first."""

    secrets: tuple[SigningSecret, ...]


class WebhookHealth(Record, frozen=True, kw_only=True, rename="camel"):
    """How a receiver fares: what came of the last try, and since when there were nothing but failures."""

    id: str
    last: Answer | None = None
    last_success_at: str | None = None
    failing_since: str | None = None


class FoundWebhook(NamedTuple):
    """A receiver with its bytes and version."""

    webhook: Webhook
    value: bytes
    version: int


_webhooks = msgspec.json.Decoder(Webhook)
_secrets = msgspec.json.Decoder(SecretsRecord)
_health = msgspec.json.Decoder(WebhookHealth)
_cursors = msgspec.json.Decoder(Cursor)


async def list_webhooks(*, owner: str | None = None) -> list[Webhook]:
    """The receivers, the oldest first: all, or an owner's. Raises StoreUnavailable where the store fails.

    One whose record is malformed is logged and left out, because it must not keep everybody else from being told.
    """
    found = await read_prefix(WEBHOOK_PREFIX, _decode)
    if found.failed:
        raise StoreUnavailable(f"{found.failed} webhooks could not be read. Try again shortly.", failed=found.failed)
    chosen = [webhook for webhook in found if owner is None or webhook.owner == owner]
    return sorted(chosen, key=lambda webhook: (webhook.created_at, webhook.id))


async def find_webhook(identity: str) -> FoundWebhook | None:
    """A receiver, or None."""
    key = webhook_key(identity)
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else FoundWebhook(_decode(key, entry.value), entry.value, entry.version)


async def get_webhook(identity: str, *, owner: str | None = None) -> FoundWebhook:
    """A receiver of an owner, or anybody's. Raises NotFound, also where it is somebody else's."""
    found = await find_webhook(identity)
    if found is None or (owner is not None and found.webhook.owner != owner):
        raise NotFound(f"There is no webhook '{identity[:60]}'.", id=identity[:60])
    return found


async def add_webhook(webhook: Webhook, *, secret: str) -> None:
    """Keep a new receiver with its secret. Raises InvalidInput where there are too many, Conflict on a race with another."""
    present = await list_webhooks()
    of_owner = sum(other.owner == webhook.owner for other in present)
    if len(present) >= MOST_WEBHOOKS or of_owner >= MOST_OF_OWNER:
        raise InvalidInput(f"There are {of_owner} webhooks already; {MOST_OF_OWNER} is the most. Remove one first.")
    secrets = SecretsRecord(secrets=(SigningSecret(secret=secret),))
    operations: list[Operation] = [
        Put(webhook_key(webhook.id), encode_record(webhook), if_version=ABSENT),
        Put(secret_key(webhook.id), encode_record(secrets), if_version=ABSENT),
    ]
    if await find_cursor() is None:
        operations.append(Put(CURSOR_KEY, encode_record(Cursor(sequence=webhook.after)), if_version=ABSENT))
    await current_env("writes").writes.commit(operations)


def changing(found: FoundWebhook, **changes: object) -> tuple[Webhook, Put]:
    """A receiver with fields changed, and the operation that keeps it if nobody has changed it meanwhile."""
    now = iso_from_ms(current_env("clock").clock.now_ms())
    changed = msgspec.structs.replace(found.webhook, updated_at=now, **changes)
    key = webhook_key(changed.id)
    return changed, Put(key, encode_changed(changed, key=key, previous=found.value), if_version=found.version)


async def remove_webhook(found: FoundWebhook) -> None:
    """Forget a receiver and its secrets; what is still to be sent to it is dropped when it comes up."""
    identity = found.webhook.id
    operations: list[Operation] = [
        Delete(webhook_key(identity), if_version=found.version),
        Delete(secret_key(identity)),
        Delete(health_key(identity)),
    ]
    if [webhook.id for webhook in await list_webhooks()] == [identity]:
        operations.append(Delete(CURSOR_KEY))
    await current_env("writes").writes.commit(operations)


async def find_cursor() -> tuple[Cursor, int] | None:
    """How far the log has been followed, with the record's version; None where there is no receiver."""
    entry = await current_env("kv").kv.get(CURSOR_KEY)
    return None if entry is None else (decode_record(CURSOR_KEY, entry.value, decoder=_cursors), entry.version)


def moving_cursor(sequence: int, *, if_version: int) -> Put:
    """The operation that moves the cursor on, if nobody else has."""
    return Put(CURSOR_KEY, encode_record(Cursor(sequence=sequence)), if_version=if_version)


async def signing_secrets(identity: str) -> list[str]:
    """The secrets that sign for a receiver now. Raises NotFound where it has none."""
    now_ms = current_env("clock").clock.now_ms()
    record, _ = await _find_secrets(identity)
    return [one.secret for one in record.secrets if one.until is None or ms_from_iso(one.until) > now_ms]


async def replace_secret(identity: str, *, secret: str) -> str:
    """Sign with a new secret from now on, and with the one before for a while; says until when."""
    env = current_env("writes")
    record, version = await _find_secrets(identity)
    until = iso_from_ms(env.clock.now_ms() + int(OVERLAP_S * 1000))
    before = msgspec.structs.replace(record.secrets[0], until=until)
    changed = SecretsRecord(secrets=(SigningSecret(secret=secret), before))
    await env.writes.commit([Put(secret_key(identity), encode_record(changed), if_version=version)])
    return until


async def list_health() -> dict[str, WebhookHealth]:
    """How every receiver fares, by its id; one that was never sent to is not there."""
    found = await read_prefix(HEALTH_PREFIX, lambda key, value: decode_record(key, value, decoder=_health))
    return {health.id: health for health in require_complete(found)}


async def find_health(identity: str) -> tuple[WebhookHealth, int]:
    """How a receiver fares, with the record's version."""
    key = health_key(identity)
    entry = await current_env("kv").kv.get(key)
    if entry is None:
        return WebhookHealth(id=identity), ABSENT
    return decode_record(key, entry.value, decoder=_health), entry.version


def keeping_health(health: WebhookHealth, *, if_version: int) -> Put:
    """The operation that notes how a receiver fares, if nobody has meanwhile."""
    return Put(health_key(health.id), encode_record(health), if_version=if_version)


async def _find_secrets(identity: str) -> tuple[SecretsRecord, int]:
    key = secret_key(identity)
    entry = await current_env("kv").kv.get(key)
    if entry is None:
        raise NotFound(f"There is no webhook '{identity[:60]}'.", id=identity[:60])
    return decode_record(key, entry.value, decoder=_secrets), entry.version


def _decode(key: str, value: bytes) -> Webhook:
    return decode_record(key, value, decoder=_webhooks)
