"""What remote workers send and are told about external scans."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from vskill_platform.domain.content import Omitted
from vskill_platform.domain.external_result import ReportedResult
from vskill_platform.domain.external_scan import ExternalScanStatus
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.pipeline.remote_scans import Claimed
from vskill_platform.stores.external_scans import ExternalScan

ScanId = Annotated[str, Meta(min_length=1, max_length=80, pattern=r"^[0-9a-f-]+$")]
ProviderName = Annotated[str, Meta(min_length=1, max_length=40, pattern=r"^[a-z0-9][a-z0-9._-]*$")]
Claim = Annotated[str, Meta(min_length=1, max_length=100)]


class PendingScan(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A scan that waits for a remote worker."""

    id: str
    provider: str
    content_digest: str
    requested_at: str
    attempts: int


class PendingScans(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Scans that wait, the oldest first."""

    scans: list[PendingScan]


class ClaimRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which scan a worker wants, and what the worker is called."""

    provider: ProviderName
    id: ScanId
    worker: Annotated[str, Meta(min_length=1, max_length=60)]


class HeldScan(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which scan a worker holds, and the secret that proves it."""

    provider: ProviderName
    id: ScanId
    claim: Claim


class CompletedScan(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What came of a scan, of which bytes."""

    provider: ProviderName
    id: ScanId
    claim: Claim
    content_digest: Annotated[str, Meta(min_length=1, max_length=100)]
    result: ReportedResult


class ClaimedScan(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A scan that is yours until `leaseUntil`. `claim`, told this once, gets the archive, extends the lease and ends the scan."""

    id: str
    provider: str
    claim: str
    content_digest: str
    tar_digest: str
    omitted: tuple[Omitted, ...]
    archive_url: str
    lease_s: float
    lease_until: str


class LeaseView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Until when a scan is yours."""

    id: str
    lease_until: str


class ScanOutcome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How a scan stands after what was said."""

    id: str
    provider: str
    status: ExternalScanStatus
    score: int | None


def view_pending(scan: ExternalScan) -> PendingScan:
    """A scan as whoever may take it sees it."""
    return PendingScan(
        id=scan.id,
        provider=scan.provider,
        content_digest=scan.content_digest,
        requested_at=scan.requested_at,
        attempts=scan.attempts,
    )


def view_claimed(claimed: Claimed, *, lease_s: float) -> ClaimedScan:
    """A scan as whoever has just taken it sees it."""
    scan = claimed.scan
    assert scan.pin is not None
    return ClaimedScan(
        id=scan.id,
        provider=scan.provider,
        claim=claimed.secret,
        content_digest=scan.content_digest,
        tar_digest=scan.tar_digest,
        omitted=scan.pin.omitted,
        archive_url=archive_path(scan.provider, scan.id),
        lease_s=lease_s,
        lease_until=iso_from_ms(scan.lease_until_ms or 0),
    )


def view_outcome(scan: ExternalScan) -> ScanOutcome:
    """How a scan stands."""
    return ScanOutcome(id=scan.id, provider=scan.provider, status=scan.status, score=scan.score)


def archive_path(provider: str, identity: str) -> str:
    """Where the bytes of a scan are, for whoever holds it."""
    return f"/api/v1/external-scans/{provider}/{identity}/archive"
