"""Taking up an external scan and giving it back: by compare-and-set, whoever runs it."""

from __future__ import annotations

import hashlib

import msgspec

from vskill_platform.domain.errors import NotFound
from vskill_platform.domain.external_scan import ExternalScanStatus
from vskill_platform.domain.records import Pin
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.pipeline.pinning import published_pin
from vskill_platform.ports.commit import Operation
from vskill_platform.stores.external_scans import ExternalScan, FoundScan, putting_scan, telling
from vskill_platform.stores.skills import find_skill
from vskill_platform.stores.submissions import find_submission
from vskill_platform.worker_context import current_env

HOUR_S = 3600.0
_SPREAD_S = 60


async def wait_for_turn(provider: str, *, identity: str) -> float:
    """0 where a provider may be given one more scan this hour, else in how many seconds to ask again.

    Those that wait come back spread over a minute, so that they do not all ask at once.
    """
    env = current_env("limiter")
    limit = env.settings.external_scans_per_hour
    taken = await env.limiter.take(f"external-scans:{provider}", limit=limit, window_s=HOUR_S)
    if taken.allowed:
        return 0.0
    return taken.retry_after_s + hashlib.sha256(identity.encode()).digest()[0] % _SPREAD_S


async def claim_scan(found: FoundScan, *, worker: str, more: list[Operation], **changes: object) -> FoundScan:
    """The scan, RUNNING, with the bytes that it is about. Raises Conflict where somebody was faster, NotFound without bytes."""
    env = current_env("writes")
    now = iso_from_ms(env.clock.now_ms())
    claimed = msgspec.structs.replace(
        found.scan,
        status=ExternalScanStatus.RUNNING,
        pin=found.scan.pin or await _pin_of(found.scan.slug),
        worker=worker,
        attempts=found.scan.attempts + 1,
        started_at=now,
        updated_at=now,
        **changes,
    )
    put = putting_scan(claimed, found)
    committed = await env.writes.commit([put, *telling(claimed), *more])
    return FoundScan(claimed, put.value, committed.version)


async def overtaken_by(scan: ExternalScan) -> str:
    """Why nobody wants to know any more, or nothing: a newer run of the submission is about other bytes."""
    if scan.slug != scan.submission_id:
        return ""
    found = await find_submission(scan.submission_id)
    if found is None or found.submission.run != scan.run:
        return "A newer run of the submission has overtaken it."
    return ""


async def release_scan(found: FoundScan, *, attempts: int) -> None:
    """Give a request back, for the next worker to take. Raises Conflict where somebody was faster."""
    env = current_env("writes")
    waiting = msgspec.structs.replace(
        found.scan,
        status=ExternalScanStatus.PENDING,
        worker="",
        lease_until_ms=None,
        claim_hash="",
        attempts=attempts,
        updated_at=iso_from_ms(env.clock.now_ms()),
    )
    await env.writes.commit([putting_scan(waiting, found), *telling(waiting)])


async def _pin_of(slug: str) -> Pin:
    """The bytes that are published under a slug. Raises NotFound."""
    found = await find_skill(slug)
    if found is None:
        raise NotFound(f"There is no skill '{slug}' that could be scanned.", slug=slug)
    return await published_pin(found.skill)
