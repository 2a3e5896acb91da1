"""External scans for workers elsewhere: those that fetch their work, and those that send results of what they were sent.

Fetching needs an API token with the scope `scan`. The bytes are for whoever holds the scan: before a skill is published nobody
else gets them. A result that is sent is known by its signature alone.
"""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Response, get, post
from litestar.datastructures import State
from litestar.params import FromPath, HeaderParameter, JSONBody, QueryParameter

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import (
    Conflict,
    ExternalScanOver,
    NotFound,
    RateLimited,
    SignatureRefused,
    VskillError,
)
from vskill_platform.domain.external_result import MAX_RESULT_BYTES, ReportedFinding, ReportedResult
from vskill_platform.domain.external_scan import ExternalScanStatus
from vskill_platform.domain.scan import Severity
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ingest.escaping import printable
from vskill_platform.pipeline.pushed_scans import CLAIM_HEADER, RESULTS_PATH, accept_result
from vskill_platform.pipeline.remote_scans import (
    archive_of_claim,
    claim_remotely,
    complete_remotely,
    extend_claim,
    give_back,
    list_pending,
)
from vskill_platform.web.access import caller_of, needs
from vskill_platform.web.api import examples
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.external_scan_views import (
    ClaimedScan,
    ClaimRequest,
    CompletedScan,
    HeldScan,
    LeaseView,
    PendingScan,
    PendingScans,
    ScanOutcome,
    archive_path,
    view_claimed,
    view_outcome,
    view_pending,
)
from vskill_platform.web.api.owning import NOT_KEPT
from vskill_platform.worker_context import current_env

TAGS = ["external scans"]
_ID = "001794823200000-5f0c2d7e9b1a4c3d8e6f7a0b1c2d3e4f"
_DIGEST = examples.DIGEST
_CLAIM = "hD0mJ2Vq8sX4tYw1zK6nR3bC9fG5pL7a"
_LATER = "2026-11-16T09:01:00.000Z"
_RESULT = ReportedResult(
    status=ExternalScanStatus.PASS,
    score=90,
    findings=[ReportedFinding(rule_id="B602", severity=Severity.HIGH, file="scripts/run.py", line=12)],
    provider_version="1.8.6",
    duration_ms=850.0,
)
_OUTCOME = ScanOutcome(id=_ID, provider="bandit", status=ExternalScanStatus.PASS, score=90)
Provider = Annotated[str, QueryParameter(min_length=1, max_length=40, description="Name of the scanner.")]
Most = Annotated[int, QueryParameter(ge=1, le=50, description="How many at most.")]
ClaimSecret = Annotated[str, HeaderParameter(name=CLAIM_HEADER, description="The claim, as it was told.")]


def _worked(
    example: object, *, body: object = None, errors: tuple[type[VskillError], ...] = (ExternalScanOver,)
) -> dict[str, object]:
    return described(example, body=body, errors=errors, access=needs(Permission.RUN_SCANS))


@get(
    "/api/v1/external-scans/pending",
    summary="List scans that wait for remote workers",
    tags=TAGS,
    opt=_worked(
        PendingScans(
            scans=[
                PendingScan(
                    id=_ID,
                    provider="bandit",
                    content_digest=_DIGEST,
                    requested_at="2026-11-16T09:00:00.000Z",
                    attempts=0,
                )
            ]
        ),
        errors=(NotFound,),
    ),
    response_headers=NOT_KEPT,
)
async def list_pending_scans(provider: Provider, limit: Most = 10) -> PendingScans:
    """What the workers of one scanner may take up, the oldest first."""
    return PendingScans(scans=[view_pending(scan) for scan in await list_pending(provider, limit=limit)])


@post(
    "/api/v1/external-scans/claim",
    status_code=200,
    summary="Take up a scan",
    tags=TAGS,
    opt=_worked(
        ClaimedScan(
            id=_ID,
            provider="bandit",
            claim=_CLAIM,
            content_digest=_DIGEST,
            tar_digest=_DIGEST,
            omitted=(),
            archive_url=archive_path("bandit", _ID),
            lease_s=60.0,
            lease_until=_LATER,
        ),
        body=ClaimRequest(provider="bandit", id=_ID, worker="farm-1"),
        errors=(NotFound, ExternalScanOver, Conflict, RateLimited),
    ),
    response_headers=NOT_KEPT,
)
async def claim_scan(request: Request[Any, Any, State], data: JSONBody[ClaimRequest]) -> ClaimedScan:
    """Take a scan for as long as a lease lasts. One worker gets it; the others are told to take the next."""
    worker = f"{caller_of(request).name}/{printable(data.worker)}"
    claimed = await claim_remotely(data.provider, data.id, worker=worker)
    return view_claimed(claimed, lease_s=current_env("settings").settings.external_lease_s)


@post(
    "/api/v1/external-scans/extend",
    status_code=200,
    summary="Hold a scan for longer",
    tags=TAGS,
    opt=_worked(LeaseView(id=_ID, lease_until=_LATER), body=HeldScan(provider="bandit", id=_ID, claim=_CLAIM)),
    response_headers=NOT_KEPT,
)
async def extend_scan(data: JSONBody[HeldScan]) -> LeaseView:
    """Hold a scan for another lease from now."""
    scan = await extend_claim(data.provider, data.id, claim=data.claim)
    return LeaseView(id=scan.id, lease_until=iso_from_ms(scan.lease_until_ms or 0))


@post(
    "/api/v1/external-scans/release",
    status_code=200,
    summary="Give a scan back",
    tags=TAGS,
    opt=_worked(
        ScanOutcome(id=_ID, provider="bandit", status=ExternalScanStatus.PENDING, score=None),
        body=HeldScan(provider="bandit", id=_ID, claim=_CLAIM),
    ),
    response_headers=NOT_KEPT,
)
async def release_scan(data: JSONBody[HeldScan]) -> ScanOutcome:
    """Let the next worker have a scan at once. The attempt does not count."""
    await give_back(data.provider, data.id, claim=data.claim)
    return ScanOutcome(id=data.id, provider=data.provider, status=ExternalScanStatus.PENDING, score=None)


@post(
    "/api/v1/external-scans/complete",
    status_code=200,
    summary="End a scan",
    tags=TAGS,
    request_max_body_size=MAX_RESULT_BYTES,
    opt=_worked(
        _OUTCOME,
        body=CompletedScan(provider="bandit", id=_ID, claim=_CLAIM, content_digest=_DIGEST, result=_RESULT),
    ),
    response_headers=NOT_KEPT,
)
async def complete_scan(data: JSONBody[CompletedScan]) -> ScanOutcome:
    """Say what came of a scan. Score and status are worked out from the findings, and taken as said only where that is worse."""
    scan = await complete_remotely(
        data.provider, data.id, claim=data.claim, content_digest=data.content_digest, result=data.result
    )
    return view_outcome(scan)


@get(
    "/api/v1/external-scans/{provider:str}/{identity:str}/archive",
    summary="The bytes of a scan",
    tags=TAGS,
    opt=described("SKILL.md…", errors=(NotFound,), types=("application/x-tar",)),
)
async def download_scanned(
    provider: FromPath[str], identity: FromPath[str], claim: ClaimSecret = ""
) -> Response[bytes]:
    """The skill as a USTAR archive, for whoever shows the claim in `x-scan-claim` while it holds."""
    archive, scan = await archive_of_claim(provider, identity, claim=claim)
    headers = {**NOT_KEPT, "ETag": f'"{scan.tar_digest}"', "X-Content-Digest": scan.content_digest}
    return Response(archive, media_type="application/x-tar", headers=headers)


@post(
    RESULTS_PATH,
    status_code=200,
    summary="Take in the result of a scan that was sent",
    tags=TAGS,
    request_max_body_size=MAX_RESULT_BYTES,
    opt=described(
        _OUTCOME,
        errors=(SignatureRefused, ExternalScanOver),
    ),
    response_headers=NOT_KEPT,
)
async def receive_scan_result(request: Request[Any, Any, State]) -> ScanOutcome:
    """For scanners that are sent their scans: `id`, `provider`, `contentDigest` and `result`, as for the end of a scan.

    The message is signed over its id, its time and its body, in `webhook-id`, `webhook-timestamp` and `webhook-signature`. It
    counts once, within five minutes.
    """
    headers = {name.lower(): value for name, value in request.headers.items()}
    return view_outcome(await accept_result(await request.body(), headers))


EXTERNAL_SCAN_ROUTES = [
    list_pending_scans,
    claim_scan,
    extend_scan,
    release_scan,
    complete_scan,
    download_scanned,
    receive_scan_result,
]
