"""What each scanner said of a skill's newest version, ours first, and what that comes to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from litestar import Request
from litestar.datastructures import State

from vskill_platform.domain.external_scan import ExternalScanStatus
from vskill_platform.domain.scan import Severity, Verdict
from vskill_platform.domain.skill import CertTier, Skill, SkillVersion
from vskill_platform.stores.external_scans import ExternalScan, list_external_scans
from vskill_platform.stores.reads import require_readable
from vskill_platform.web.api.security import scan_of
from vskill_platform.web.api.skill_lookup import offered_version
from vskill_platform.web.site import site_url

OWN_PROVIDER = "vskill-tier1"
_DONE = frozenset({ExternalScanStatus.PASS, ExternalScanStatus.FAIL})


class ProviderVerdict(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What one scanner said. `criticalCount` is null where its findings are no longer kept."""

    provider: str
    status: str
    verdict: str | None
    critical_count: int | None
    score: int | None = None


class SecurityVerdict(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What all scanners together say."""

    overall_verdict: str
    report_url: str
    providers: list[ProviderVerdict]


async def tell_security(request: Request[Any, Any, State], skill: Skill) -> SecurityVerdict:
    """What every scanner said of the version that people get."""
    version = await offered_version(skill, "")
    scans = require_readable(await list_external_scans(skill.slug))
    current = [scan for scan in scans if scan.is_about(version.content_digest)]
    providers = [await _own(version), *(_external(scan) for scan in current)]
    return SecurityVerdict(
        overall_verdict=overall_verdict(version, current),
        report_url=f"{site_url(request)}/skills/{skill.slug}",
        providers=providers,
    )


def overall_verdict(version: SkillVersion, scans: Sequence[ExternalScan]) -> str:
    """FAIL where anybody says so, then what is not known yet, then CERTIFIED for a vendor's, else PASS."""
    said = {scan.status for scan in scans}
    if version.verdict is Verdict.FAIL or ExternalScanStatus.FAIL in said:
        return "FAIL"
    if any(scan.is_open for scan in scans):
        return "PENDING"
    if ExternalScanStatus.TIMED_OUT in said:
        return "TIMED_OUT"
    return "CERTIFIED" if version.tier is CertTier.CERTIFIED else "PASS"


async def _own(version: SkillVersion) -> ProviderVerdict:
    scan = await scan_of(version)
    grave = None if scan is None else sum(one.severity is Severity.CRITICAL for one in scan.report.findings)
    return ProviderVerdict(
        provider=OWN_PROVIDER,
        status="COMPLETED",
        verdict=version.verdict.value,
        critical_count=grave,
        score=version.score,
    )


def _external(scan: ExternalScan) -> ProviderVerdict:
    return ProviderVerdict(
        provider=scan.provider,
        status=scan.status.value,
        verdict=scan.status.value if scan.status in _DONE else None,
        critical_count=sum(one.severity is Severity.CRITICAL for one in scan.findings)
        if scan.status in _DONE
        else None,
        score=scan.score,
    )
