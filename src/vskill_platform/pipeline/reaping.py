"""The reaper: external scans that nobody works on any more are given to the next worker, or ended with the reason.

It goes by the open requests, and each is moved by compare-and-set, so a result that comes at the same moment is kept or refused,
never half of both.
"""

from __future__ import annotations

from collections import Counter

import structlog

from vskill_platform.domain.errors import Conflict, ExternalScanOver, VskillError
from vskill_platform.domain.external_provider import Carrier
from vskill_platform.domain.external_scan import ExternalReport, ExternalScanStatus
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.times import ms_from_iso
from vskill_platform.pipeline.opinion_results import settle_scan
from vskill_platform.pipeline.scan_claims import release_scan
from vskill_platform.ports.commit import CheckStatus, Delete, DropMessage, Operation
from vskill_platform.stores.external_scans import (
    ExternalScan,
    FoundScan,
    find_open_scan,
    iter_open,
    open_key,
)
from vskill_platform.worker_context import current_env

NOBODY_TOOK_IT_MS = 24 * 3600 * 1000
"""How long a request waits for a remote worker to come before it is given up."""
_log = structlog.get_logger(__name__)


async def reap_external_scans() -> dict[str, int]:
    """Look at every open request, and see to those that are lost. Says how many were left, given back and ended."""
    counts: Counter[str] = Counter(left=0, givenBack=0, ended=0, closed=0, failed=0)
    async for provider, identity in iter_open():
        try:
            counts[await _reap(provider, identity)] += 1
        except (Conflict, ExternalScanOver):
            counts["left"] += 1
        except VskillError as error:
            _log.error("external_scan_not_reaped", provider=provider, id=identity, code=error.code, error=error.message)
            counts["failed"] += 1
    return dict(counts)


async def _reap(provider: str, identity: str) -> str:
    found = await find_open_scan(provider, identity)
    if found is None:
        await current_env("writes").writes.commit([Delete(open_key(provider, identity))])
        return "closed"
    if found.scan.lease_until_ms is not None:
        return await _reap_leased(found)
    if found.scan.message_id is not None:
        return await _reap_sent(found)
    age_ms = current_env("clock").clock.now_ms() - ms_from_iso(found.scan.requested_at)
    if age_ms < NOBODY_TOOK_IT_MS:
        return "left"
    return await _end(found, ExternalScanStatus.TIMED_OUT, "No remote worker took it up within a day.")


async def _reap_leased(found: FoundScan) -> str:
    env, scan = current_env("clock"), found.scan
    assert scan.lease_until_ms is not None
    if env.clock.now_ms() < scan.lease_until_ms:
        return "left"
    if scan.carrier is Carrier.PUSH:
        return await _end(found, ExternalScanStatus.TIMED_OUT, "It was sent, and no result came in time.")
    if scan.attempts >= env.settings.max_attempts:
        because = f"{scan.attempts} workers took it up and fell silent, the last of them {scan.worker}."
        return await _end(found, ExternalScanStatus.ERROR, because)
    await release_scan(found, attempts=scan.attempts)
    _log.warning("external_lease_lapsed", slug=scan.slug, provider=scan.provider, worker=scan.worker)
    return "givenBack"


async def _reap_sent(found: FoundScan) -> str:
    """A request whose message is gone or given up will get no answer any more."""
    identity = MessageId(found.scan.message_id or "")
    info = (await current_env("queue").queue.find([identity])).get(identity)
    if info is None:
        more: list[Operation] = [CheckStatus(identity, MessageStatus.GONE)]
        return await _end(found, ExternalScanStatus.ERROR, "Its message was lost.", more=more)
    if info.status is not MessageStatus.DEAD:
        return "left"
    because = f"Every attempt failed, the last with: {info.error or 'the worker died'}"
    return await _end(found, ExternalScanStatus.ERROR, because, more=[DropMessage(identity, because)])


async def _end(
    found: FoundScan, status: ExternalScanStatus, because: str, *, more: list[Operation] | None = None
) -> str:
    scan: ExternalScan = found.scan

    async def find() -> FoundScan:
        now = await find_open_scan(scan.provider, scan.id)
        if now is None or now.scan != scan:
            raise ExternalScanOver(f"The scan {scan.id} has moved on.")
        return now

    await settle_scan(find, ExternalReport(provider=scan.provider, status=status, summary=because), more=more or [])
    return "ended"
