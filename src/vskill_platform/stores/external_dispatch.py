"""Asking external scanners for an opinion: PENDING and whatever brings it to them, in one commit. The scanners are elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from vskill_platform.domain.errors import Conflict
from vskill_platform.domain.external_provider import Carrier, Provider
from vskill_platform.domain.external_scan import ExternalScanStatus
from vskill_platform.domain.ids import MessageId, message_id
from vskill_platform.domain.messages import EXTERNAL_SCANS_QUEUE, RunExternalScan, encode_message
from vskill_platform.domain.records import Pin
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import Operation, Send
from vskill_platform.stores.external_scans import (
    ExternalScan,
    FoundScan,
    closing,
    find_external_scan,
    named_providers,
    opening,
    putting_scan,
    telling,
)
from vskill_platform.worker_context import current_env


async def dispatch_external_scans(slug: str, providers: Sequence[str]) -> list[str]:
    """Ask providers for an opinion: PENDING and a message, in one commit each. Returns those that were asked.

    A provider that is at it already is not asked again.
    """
    return [provider for provider in dict.fromkeys(providers) if await _dispatch(slug, provider)]


def requesting(
    slug: str,
    provider: Provider,
    *,
    previous: FoundScan | None,
    pin: Pin | None = None,
    submission_id: str = "",
    run: int = 0,
) -> list[Operation]:
    """The operations that ask a provider about some bytes, in place of whatever it was asked or has said before.

    An answer to what it was asked before is not taken any more.
    """
    env = current_env("queue")
    now_ms = env.clock.now_ms()
    now = iso_from_ms(now_ms)
    is_sent = provider.carrier is not Carrier.PULL
    scan = ExternalScan(
        slug=slug,
        provider=provider.name,
        status=ExternalScanStatus.PENDING,
        requested_at=now,
        updated_at=now,
        message_id=message_id(env.random_id()) if is_sent else None,
        id=f"{now_ms:015d}-{env.random_id().hex}",
        carrier=provider.carrier,
        submission_id=submission_id,
        run=run,
        pin=pin,
    )
    operations: list[Operation] = [putting_scan(scan, previous), opening(scan), *telling(scan)]
    if scan.message_id is not None:
        body = encode_message(RunExternalScan(slug=slug, provider=provider.name, requested_at=now))
        operations.append(Send(EXTERNAL_SCANS_QUEUE, MessageId(scan.message_id), body))
    return operations if previous is None else [*operations, *closing(previous.scan)]


async def _is_under_way(scan: ExternalScan) -> bool:
    """Whether the provider is at it, and where it works by messages, its message is there to prove it."""
    if not scan.is_open:
        return False
    if scan.message_id is None:
        return scan.carrier is Carrier.PULL
    identity = MessageId(scan.message_id)
    info = (await current_env("queue").queue.find([identity])).get(identity)
    return info is not None and info.status is not MessageStatus.DEAD


async def _dispatch(slug: str, name: str) -> bool:
    env = current_env("queue")
    previous = await find_external_scan(slug, name)
    if previous is not None and await _is_under_way(previous.scan):
        return False
    provider = named_providers().get(name, Provider(name))
    try:
        await env.writes.commit(requesting(slug, provider, previous=previous))
    except Conflict:
        return False
    return True
