"""Working on one message of the external-scans queue: a scanner of ours is run, or a remote one is sent the request.

A message counts only for the request that its record names. The record is claimed by compare-and-set before the scan and gets its
answer in the commit that ends the message, so a worker that dies in between leaves a request that is taken up again.
"""

from __future__ import annotations

import hashlib
from time import perf_counter

import msgspec
import structlog

from vskill_platform.domain.errors import (
    BlobCorrupt,
    BlobMissing,
    Conflict,
    ExternalScanOver,
    NotFound,
    UnknownMessageKind,
    VskillError,
)
from vskill_platform.domain.external_provider import Carrier
from vskill_platform.domain.external_scan import ExternalReport, ExternalScanStatus
from vskill_platform.domain.messages import RunExternalScan, decode_message
from vskill_platform.domain.records import Pin
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.pipeline.opinion_results import settle_scan
from vskill_platform.pipeline.pinning import Pinned, published_pin, read_pinned
from vskill_platform.ports.commit import Ack, CheckLease, Operation
from vskill_platform.ports.queue import Message
from vskill_platform.ports.second_opinions import ExternalScanner
from vskill_platform.stores.external_scans import (
    ExternalScan,
    FoundScan,
    find_external_scan,
    putting_scan,
    telling,
)
from vskill_platform.stores.skills import find_skill
from vskill_platform.stores.submissions import find_submission
from vskill_platform.worker_context import current_env

HOUR_S = 3600.0
_SPREAD_S = 60
_log = structlog.get_logger(__name__)


async def run_external_message(message: Message) -> None:
    """Work on one message. Raises MalformedMessage or UnknownMessageKind for what does not belong in this queue."""
    task = decode_message(message.body)
    if not isinstance(task, RunExternalScan):
        raise UnknownMessageKind(f"The external-scans queue does not carry messages of kind '{type(task).__name__}'.")
    found = await find_external_scan(task.slug, task.provider)
    if found is None or found.scan.message_id != message.id or not found.scan.is_open:
        _log.info("external_scan_stale", slug=task.slug, provider=task.provider, message=message.id)
        message.ack()
        return
    wait_s = await wait_for_turn(task.provider, identity=message.id)
    if wait_s > 0:
        message.release(delay_s=wait_s)
        return
    await _run(message, found)


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


async def _run(message: Message, found: FoundScan) -> None:
    try:
        claimed = await claim_scan(found, worker="local", more=[CheckLease(message.lease)])
    except Conflict:
        message.release(delay_s=1)
        return
    except NotFound as error:
        await _settle(message, found, _error(found.scan, error.message))
        return
    because = await overtaken_by(claimed.scan)
    if because:
        await _settle(message, claimed, _error(claimed.scan, because))
    elif claimed.scan.carrier is Carrier.PUSH:
        await _settle(message, claimed, _error(claimed.scan, "Requests cannot be sent to remote scanners yet."))
    else:
        await _settle(message, claimed, await _scan(claimed.scan))


async def _settle(message: Message, found: FoundScan, report: ExternalReport) -> None:
    scan = found.scan

    async def find() -> FoundScan:
        now = await find_external_scan(scan.slug, scan.provider)
        if now is None or now.scan.id != scan.id or now.scan.message_id != message.id or not now.scan.is_open:
            raise ExternalScanOver(f"{scan.provider} is not asked about {scan.slug} any more.")
        return now

    try:
        await settle_scan(find, report, more=[Ack(message.lease)])
    except ExternalScanOver:
        message.ack()
        return
    message.mark_settled()


async def _scan(scan: ExternalScan) -> ExternalReport:
    """What the scanner says. What cannot be scanned here, and bytes that are gone, are errors of the scan."""
    scanner = current_env("external").external.get(scan.provider)
    if scanner is None:
        return _error(scan, f"There is no scanner '{scan.provider}' on the worker that took it up.")
    because = await scanner.unavailable_because()
    if because:
        return _error(scan, because)
    assert scan.pin is not None
    try:
        pinned = await read_pinned(scan.pin)
    except (BlobMissing, BlobCorrupt) as error:
        return _error(scan, error.message)
    return await _ask(scanner, scan, pinned)


async def _ask(scanner: ExternalScanner, scan: ExternalScan, pinned: Pinned) -> ExternalReport:
    started = perf_counter()
    try:
        report = await scanner.scan(pinned.content)
    except VskillError:
        raise
    except Exception as error:  # the adapter of one scanner is broken; the others and the worker go on
        _log.exception("external_scanner_broken", provider=scan.provider, slug=scan.slug)
        return _error(scan, f"The scanner broke: {type(error).__name__}.")
    duration_ms = report.duration_ms or round((perf_counter() - started) * 1000, 1)
    return msgspec.structs.replace(report, provider=scan.provider, duration_ms=duration_ms)


async def _pin_of(slug: str) -> Pin:
    """The bytes that are published under a slug. Raises NotFound."""
    found = await find_skill(slug)
    if found is None:
        raise NotFound(f"There is no skill '{slug}' that could be scanned.", slug=slug)
    return await published_pin(found.skill)


def _error(scan: ExternalScan, because: str) -> ExternalReport:
    return ExternalReport(provider=scan.provider, status=ExternalScanStatus.ERROR, summary=because)
