"""Working on one message of the external-scans queue: a scanner of ours is run, or a remote one is sent the request.

A message counts only for the request that its record names. The record is claimed by compare-and-set before the scan and gets its
answer in the commit that ends the message, so a worker that dies in between leaves a request that is taken up again.
"""

from __future__ import annotations

from time import perf_counter

import msgspec
import structlog

from vskill_platform.domain.delivery import retry_delay_s
from vskill_platform.domain.errors import (
    BlobCorrupt,
    BlobMissing,
    Conflict,
    ExternalScanOver,
    NotFound,
    RemoteScannerUnreachable,
    UnknownMessageKind,
    VskillError,
)
from vskill_platform.domain.external_provider import Carrier
from vskill_platform.domain.external_scan import ExternalReport, ExternalScanStatus
from vskill_platform.domain.messages import RunExternalScan, decode_message
from vskill_platform.pipeline.opinion_results import settle_scan
from vskill_platform.pipeline.pinning import Pinned, read_pinned
from vskill_platform.pipeline.pushed_scans import claiming, new_claim, push_request
from vskill_platform.pipeline.scan_claims import claim_scan, overtaken_by, release_scan, wait_for_turn
from vskill_platform.ports.commit import Ack, CheckLease
from vskill_platform.ports.queue import Message
from vskill_platform.ports.second_opinions import ExternalScanner
from vskill_platform.stores.external_scans import ExternalScan, FoundScan, find_external_scan
from vskill_platform.worker_context import current_env

LOCAL_WORKER = "local"
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


async def _run(message: Message, found: FoundScan) -> None:
    is_pushed = found.scan.carrier is Carrier.PUSH
    secret = new_claim() if is_pushed else ""
    changes = claiming(secret) if is_pushed else {}
    worker = found.scan.provider if is_pushed else LOCAL_WORKER
    try:
        claimed = await claim_scan(found, worker=worker, more=[CheckLease(message.lease)], **changes)
    except Conflict:
        message.release(delay_s=1)
        return
    except NotFound as error:
        await _settle(message, found, _error(found.scan, error.message))
        return
    because = await overtaken_by(claimed.scan)
    if because:
        await _settle(message, claimed, _error(claimed.scan, because))
    elif is_pushed:
        await _push(message, claimed, secret)
    else:
        await _settle(message, claimed, await _scan(claimed.scan))


async def _push(message: Message, claimed: FoundScan, secret: str) -> None:
    """Send the request. It stays RUNNING until its result comes; one that nobody takes is sent again, and then given up."""
    try:
        await push_request(claimed.scan, claim=secret)
    except RemoteScannerUnreachable as error:
        if message.attempts >= current_env("settings").settings.max_attempts:
            await _settle(message, claimed, _error(claimed.scan, error.message))
            return
        _log.warning("external_scan_not_sent", provider=claimed.scan.provider, error=error.message)
        try:
            await release_scan(claimed, attempts=claimed.scan.attempts)
        except Conflict:  # it was taken after all, and its result is here already
            return
        message.retry(error=error.message, delay_s=retry_delay_s(message.attempts))


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


def _error(scan: ExternalScan, because: str) -> ExternalReport:
    return ExternalReport(provider=scan.provider, status=ExternalScanStatus.ERROR, summary=because)
