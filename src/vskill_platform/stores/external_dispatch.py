"""Asking external scanners for an opinion: PENDING and a message, in one commit. The scanners themselves are elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from vskill_platform.domain.errors import Conflict
from vskill_platform.domain.external_scan import IN_PROGRESS, ExternalScanStatus
from vskill_platform.domain.ids import MessageId, message_id
from vskill_platform.domain.messages import EXTERNAL_SCANS_QUEUE, RunExternalScan, encode_message
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import ABSENT, Put, Send
from vskill_platform.stores.external_scans import (
    ExternalScan,
    decode_external_scan,
    external_scan_key,
    telling,
)
from vskill_platform.stores.records import encode_changed, encode_record
from vskill_platform.worker_context import current_env


async def dispatch_external_scans(slug: str, providers: Sequence[str]) -> list[str]:
    """Ask providers for an opinion: PENDING and a message, in one commit each. Returns those that were asked.

    A provider that is at it already is not asked again.
    """
    return [provider for provider in dict.fromkeys(providers) if await _dispatch(slug, provider)]


async def _is_under_way(scan: ExternalScan) -> bool:
    """Whether the provider is at it, and its message is there to prove it."""
    if scan.status not in IN_PROGRESS or scan.message_id is None:
        return False
    identity = MessageId(scan.message_id)
    info = (await current_env("queue").queue.find([identity])).get(identity)
    return info is not None and info.status is not MessageStatus.DEAD


async def _dispatch(slug: str, provider: str) -> bool:
    env = current_env("queue")
    key = external_scan_key(slug, provider)
    entry = await env.kv.get(key)
    if entry is not None and await _is_under_way(decode_external_scan(key, entry.value)):
        return False
    now = iso_from_ms(env.clock.now_ms())
    identity = message_id(env.random_id())
    scan = ExternalScan(
        slug=slug,
        provider=provider,
        status=ExternalScanStatus.PENDING,
        requested_at=now,
        updated_at=now,
        message_id=identity,
    )
    body = encode_message(RunExternalScan(slug=slug, provider=provider, requested_at=now))
    version = ABSENT if entry is None else entry.version
    value = encode_record(scan) if entry is None else encode_changed(scan, key=key, previous=entry.value)
    try:
        await env.writes.commit(
            [
                Put(key, value, if_version=version),
                Send(EXTERNAL_SCANS_QUEUE, identity, body),
                telling(scan),
            ]
        )
    except Conflict:
        return False
    return True
