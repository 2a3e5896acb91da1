"""Storing what an external scanner said, and what follows from it, in one commit.

The last answer that a submission waits for makes its message deliverable at once. An objection to what is published already opens
a report on the operator's desk, because a person decides about that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import msgspec
import structlog

from vskill_platform import metrics
from vskill_platform.domain.errors import Conflict
from vskill_platform.domain.external_scan import ExternalFinding, ExternalReport, ExternalScanStatus
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.pipeline.second_opinions import is_waiting
from vskill_platform.ports.commit import Check, Operation, Requeue
from vskill_platform.scanning.external.known import mark_known
from vskill_platform.stores.external_scans import (
    ExternalScan,
    FoundScan,
    ending_scan,
    external_scan_key,
    find_external_scan,
)
from vskill_platform.stores.reads import list_keys
from vskill_platform.stores.reports import opening_provider_report
from vskill_platform.stores.scans import get_scan_of_run
from vskill_platform.stores.submissions import find_submission
from vskill_platform.worker_context import current_env

_TRIES = 10
_TOLD = 5
_log = structlog.get_logger(__name__)

Find = Callable[[], Awaitable[FoundScan]]
"""Reads the scan and raises ExternalScanOver where it is not the caller's to end."""


async def settle_scan(find: Find, report: ExternalReport, *, more: Sequence[Operation] = ()) -> ExternalScan:
    """Store an answer with all that follows from it and whatever else the caller's commit holds.

    Reads again and tries again where something else was written meanwhile. Raises what `find` raises, LeaseLost where an
    operation of the caller's has lost its lease, or Conflict in the end.
    """
    report = await _marked((await find()).scan, report)
    for attempt in range(_TRIES):
        found = await find()
        ended, operations = ending_scan(found, report)
        operations += await _following(ended)
        try:
            await current_env("writes").writes.commit([*operations, *more])
        except Conflict:
            if attempt == _TRIES - 1:
                raise
        else:
            _tell(ended)
            return ended
    raise AssertionError("unreachable")


async def _marked(scan: ExternalScan, report: ExternalReport) -> ExternalReport:
    """The same, with each finding marked that our own scan of these bytes has too."""
    ours = await get_scan_of_run(scan.submission_id, scan.run) if report.findings and scan.submission_id else None
    if ours is None or ours.report.content_digest != scan.content_digest:
        return report
    return msgspec.structs.replace(report, findings=mark_known(report.findings, ours.report))


async def _following(scan: ExternalScan) -> list[Operation]:
    if scan.slug == scan.submission_id:
        return await _resuming(scan)
    if scan.status is ExternalScanStatus.FAIL:
        return await opening_provider_report(
            scan.slug, provider=scan.provider, content_digest=scan.content_digest, text=_objection(scan)
        )
    return []


async def _resuming(scan: ExternalScan) -> list[Operation]:
    """What wakes the submission that waits, if this was the last answer. It holds the commit to what the others say now.

    Two last answers at the same moment are thereby one after the other, and the second sees the first.
    """
    submission = await find_submission(scan.submission_id)
    if submission is None or not is_waiting(submission.submission, run=scan.run):
        return []
    others = [other for other in await _scans_of(scan.slug) if other.scan.provider != scan.provider]
    held: list[Operation] = [
        Check(external_scan_key(scan.slug, other.scan.provider), other.version) for other in others
    ]
    if any(other.scan.is_open and other.scan.run == scan.run for other in others):
        return held
    return [*held, *await _waking(submission.submission.message_id)]


async def _waking(message: str | None) -> list[Operation]:
    """A message that waits for its delay is due now; in any other state it is on its way already, or lost, which is seen to."""
    identity = MessageId(message or "")
    info = (await current_env("queue").queue.find([identity])).get(identity)
    return [] if info is None or info.status is not MessageStatus.DELAYED else [Requeue(identity)]


async def _scans_of(slug: str) -> list[FoundScan]:
    prefix = external_scan_key(slug, "")
    names = [key.removeprefix(prefix) async for page in list_keys(prefix) for key in page]
    found = [await find_external_scan(slug, name) for name in names]
    return [scan for scan in found if scan is not None]


def _objection(scan: ExternalScan) -> str:
    told = "; ".join(_place(finding) for finding in scan.findings[:_TOLD])
    more = len(scan.findings) + scan.left_off - _TOLD
    rest = f"; and {more} more" if more > 0 else ""
    return f"{scan.provider} gives {scan.score} of 100 to these bytes ({scan.content_digest}): {told}{rest}."


def _place(finding: ExternalFinding) -> str:
    where = f"{finding.file}:{finding.line}" if finding.line else finding.file
    return f"{finding.severity.value} {finding.rule_id} in {where}"


def _tell(scan: ExternalScan) -> None:
    metrics.EXTERNAL_SCANS.labels(scan.provider, scan.status.value).inc()
    log = _log.info if scan.status in (ExternalScanStatus.PASS, ExternalScanStatus.FAIL) else _log.warning
    log(
        "external_scan_ended",
        slug=scan.slug,
        provider=scan.provider,
        status=scan.status.value,
        score=scan.score,
        summary=scan.summary,
        worker=scan.worker,
    )
