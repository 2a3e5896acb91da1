"""From what a scanner elsewhere says to a report of ours: by the same rules as for one that runs here.

Only files that the skill has, excerpts from the skill itself, texts of bounded length. What the scanner says of itself may make
the result worse than its findings are, and never better.
"""

from __future__ import annotations

import msgspec

from vskill_platform.domain.errors import InvalidInput
from vskill_platform.domain.external_result import ReportedFinding, ReportedResult
from vskill_platform.domain.external_scan import IN_PROGRESS, ExternalReport, ExternalScanStatus
from vskill_platform.pipeline.pinning import read_pinned
from vskill_platform.scanning.external.normalising import Sighting, Sightings, bounded, failed_report, report_of
from vskill_platform.stores.external_scans import ExternalScan

S = ExternalScanStatus


async def read_result(scan: ExternalScan, result: ReportedResult) -> ExternalReport:
    """What a result comes to. Raises InvalidInput for one that is none, or BlobMissing where the bytes are gone."""
    if result.status in IN_PROGRESS:
        raise InvalidInput(f"A result is PASS, FAIL, TIMED_OUT or ERROR, not {result.status.value}.")
    if result.status in (S.TIMED_OUT, S.ERROR):
        return failed_report(
            result.summary or "The scanner does not say why.",
            provider=scan.provider,
            version=bounded(result.provider_version, limit=100),
            is_late=result.status is S.TIMED_OUT,
            duration_ms=result.duration_ms,
        )
    assert scan.pin is not None
    pinned = await read_pinned(scan.pin)
    found = [_sighting(finding, provider=scan.provider) for finding in result.findings]
    report = report_of(
        Sightings(found=found, version=bounded(result.provider_version, limit=100)),
        provider=scan.provider,
        version="",
        content=pinned.content,
        folder="",
        duration_ms=result.duration_ms,
    )
    return _at_worst(report, result)


def check_digest(scan: ExternalScan, content_digest: str) -> None:
    """Raise InvalidInput for an answer about other bytes than those that were asked about."""
    if scan.content_digest != content_digest:
        raise InvalidInput(
            f"The answer is about {content_digest[:80]}, and the question about {scan.content_digest}. Scan what was sent."
        )


def _sighting(finding: ReportedFinding, *, provider: str) -> Sighting:
    return Sighting(
        rule=finding.rule_id.removeprefix(f"{provider}/"),
        severity=finding.severity,
        file=finding.file,
        line=finding.line,
        message=finding.message,
        fix=finding.fix,
    )


def _at_worst(report: ExternalReport, result: ReportedResult) -> ExternalReport:
    is_failed = S.FAIL in (report.status, result.status)
    scores = [score for score in (report.score, result.score) if score is not None]
    return msgspec.structs.replace(
        report,
        status=S.FAIL if is_failed else S.PASS,
        score=min(scores),
        left_off=report.left_off + result.left_off,
    )
