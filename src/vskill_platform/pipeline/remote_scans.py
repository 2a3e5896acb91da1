"""Remote workers that fetch their work: what waits for them, and claims with a lease that each of them holds.

A claim is a secret that is told once and kept as a hash. Whoever has it reads the bytes, says that it is still at it, gives the
scan back or ends it, until its lease lapses. From that moment on nothing it says counts, whether or not somebody has looked.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

import msgspec

from vskill_platform.domain.errors import Conflict, ExternalScanOver, NotFound, RateLimited
from vskill_platform.domain.external_provider import Carrier
from vskill_platform.domain.external_result import ReportedResult
from vskill_platform.domain.external_scan import ExternalReport, ExternalScanStatus
from vskill_platform.domain.ids import Digest
from vskill_platform.domain.secrets import equal_secrets, hash_secret
from vskill_platform.pipeline.asked_providers import asked_providers
from vskill_platform.pipeline.opinion_results import settle_scan
from vskill_platform.pipeline.remote_results import check_digest, read_result
from vskill_platform.pipeline.scan_claims import claim_scan, overtaken_by, release_scan, wait_for_turn
from vskill_platform.ports.commit import Operation
from vskill_platform.stores.external_scans import (
    ExternalScan,
    FoundScan,
    find_open_scan,
    iter_open,
    putting_scan,
)
from vskill_platform.worker_context import current_env

_CLAIM_BYTES = 24


class Claimed(NamedTuple):
    """A scan that somebody has taken up, and the secret that proves it."""

    scan: ExternalScan
    secret: str


async def list_pending(provider: str, *, limit: int) -> list[ExternalScan]:
    """What a provider's workers may take up, oldest first. Raises NotFound for one whose work nobody fetches."""
    _require_pulled(provider)
    now_ms = current_env("clock").clock.now_ms()
    waiting: list[ExternalScan] = []
    async for _, identity in iter_open(provider):
        found = await find_open_scan(provider, identity)
        if found is not None and _is_free(found.scan, now_ms=now_ms):
            waiting.append(found.scan)
            if len(waiting) == limit:
                break
    return waiting


async def claim_remotely(provider: str, identity: str, *, worker: str) -> Claimed:
    """Take a scan up for as long as a lease lasts.

    Raises ExternalScanOver where there is nothing to take, Conflict where another has it, RateLimited beyond the hour's limit.
    """
    env = current_env("clock")
    _require_pulled(provider)
    found = await find_open_scan(provider, identity)
    if found is None or found.scan.carrier is not Carrier.PULL:
        raise _over(identity)
    if not _is_free(found.scan, now_ms=env.clock.now_ms()):
        raise Conflict(f"Another worker has the scan '{identity}'. Take the next.", id=identity)
    because = await overtaken_by(found.scan)
    if because:
        await _end_unclaimed(found, because)
        raise _over(identity)
    wait_s = await wait_for_turn(provider, identity=identity)
    if wait_s > 0:
        raise RateLimited(f"{provider} has had its scans for this hour.", retry_after_s=wait_s)
    secret = secrets.token_urlsafe(_CLAIM_BYTES)
    try:
        claimed = await claim_scan(
            found, worker=worker, more=[], lease_until_ms=_lease_until_ms(), claim_hash=hash_secret(secret)
        )
    except NotFound as error:
        await _end_unclaimed(found, error.message)
        raise _over(identity) from error
    return Claimed(claimed.scan, secret)


async def extend_claim(provider: str, identity: str, *, claim: str) -> ExternalScan:
    """Hold a scan for another lease from now. Raises ExternalScanOver where it is not the caller's any more."""
    found = await _held(provider, identity, claim=claim)
    extended = msgspec.structs.replace(found.scan, lease_until_ms=_lease_until_ms())
    await _write(identity, [putting_scan(extended, found)])
    return extended


async def give_back(provider: str, identity: str, *, claim: str) -> None:
    """Let the next worker have a scan at once. Raises ExternalScanOver where it is not the caller's any more."""
    found = await _held(provider, identity, claim=claim)
    try:
        await release_scan(found, attempts=found.scan.attempts - 1)
    except Conflict as error:
        raise _over(identity) from error


async def complete_remotely(
    provider: str, identity: str, *, claim: str, content_digest: str, result: ReportedResult
) -> ExternalScan:
    """Store what a worker says of the bytes that it had. Raises ExternalScanOver, or InvalidInput for what makes no sense."""
    held = await _held(provider, identity, claim=claim)
    check_digest(held.scan, content_digest)
    report = await read_result(held.scan, result)

    async def find() -> FoundScan:
        return await _held(provider, identity, claim=claim)

    return await settle_scan(find, report)


async def archive_of_claim(provider: str, identity: str, *, claim: str) -> tuple[bytes, ExternalScan]:
    """The archive that a claimed scan is about. Raises NotFound for everybody who does not hold it, as if there were none."""
    found = await find_open_scan(provider, identity)
    if found is None or not _is_holder(found.scan, claim):
        raise NotFound("There is no archive here for you. It is there for whoever holds the scan, while they do.")
    return await current_env("blobs").blobs.get(Digest(found.scan.tar_digest)), found.scan


def _require_pulled(provider: str) -> None:
    known = asked_providers().get(provider)
    if known is None or known.carrier is not Carrier.PULL:
        raise NotFound(
            f"No remote worker is asked for '{provider[:60]}'. The operator lists it as remote:NAME in EXTERNAL_SCANNERS."
        )


async def _held(provider: str, identity: str, *, claim: str) -> FoundScan:
    found = await find_open_scan(provider, identity)
    if found is None or found.scan.carrier is not Carrier.PULL or not _is_holder(found.scan, claim):
        raise _over(identity)
    if await overtaken_by(found.scan):
        raise _over(identity)
    return found


def _is_holder(scan: ExternalScan, claim: str) -> bool:
    is_live = scan.lease_until_ms is not None and current_env("clock").clock.now_ms() < scan.lease_until_ms
    is_same = bool(scan.claim_hash) and equal_secrets(scan.claim_hash, hash_secret(claim))
    return is_live and is_same


def _is_free(scan: ExternalScan, *, now_ms: int) -> bool:
    """Whether anybody may take it: it waits, or who had it fell silent and it was not tried too often."""
    if scan.status is ExternalScanStatus.PENDING:
        return True
    is_lapsed = scan.lease_until_ms is not None and now_ms >= scan.lease_until_ms
    return is_lapsed and scan.attempts < current_env("settings").settings.max_attempts


def _lease_until_ms() -> int:
    env = current_env("clock")
    return env.clock.now_ms() + int(env.settings.external_lease_s * 1000)


async def _end_unclaimed(found: FoundScan, because: str) -> None:
    async def find() -> FoundScan:
        now = await find_open_scan(found.scan.provider, found.scan.id)
        if now is None:
            raise _over(found.scan.id)
        return now

    report = ExternalReport(provider=found.scan.provider, status=ExternalScanStatus.ERROR, summary=because)
    await settle_scan(find, report)


async def _write(identity: str, operations: list[Operation]) -> None:
    try:
        await current_env("writes").writes.commit(operations)
    except Conflict as error:
        raise _over(identity) from error


def _over(identity: str) -> ExternalScanOver:
    return ExternalScanOver(
        f"The scan '{identity[:80]}' is not yours: it has ended, was asked anew, or your lease is over. Take the next.",
        id=identity[:80],
    )
