"""Remote scanners that are sent their work: a signed request goes out, and a signed result comes back on its own.

A result counts once: its id is noted in the commit that stores it, so a message that was noted is never lost, and one that was
repeated, altered, late or about other bytes changes nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

import msgspec
import structlog

from vskill_platform.domain.errors import ExternalScanOver, InvalidInput, RemoteScannerUnreachable, SignatureRefused
from vskill_platform.domain.external_provider import Carrier, Provider
from vskill_platform.domain.external_result import ReportedResult
from vskill_platform.domain.secrets import hash_secret
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.notify.sending import Sender
from vskill_platform.notify.signing import accepting_once, refuse_repeated, sign, verify
from vskill_platform.pipeline.asked_providers import asked_providers
from vskill_platform.pipeline.opinion_results import settle_scan
from vskill_platform.pipeline.remote_results import check_digest, read_result
from vskill_platform.pipeline.scan_claims import overtaken_by
from vskill_platform.stores.external_scans import ExternalScan, FoundScan, find_open_scan
from vskill_platform.worker_context import current_env

RECEIVER = "scan-results"
RESULTS_PATH = "/api/v1/webhooks/scan-results"
CLAIM_HEADER = "x-scan-claim"
_CLAIM_BYTES = 24
_log = structlog.get_logger(__name__)


class ScanRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a remote scanner is sent. `archive_url` gives the bytes to whoever shows `claim` in `x-scan-claim`."""

    id: str
    provider: str
    content_digest: str
    tar_digest: str
    archive_url: str
    claim: str
    results_url: str
    deadline: str


class PushedResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a remote scanner sends back."""

    id: str
    provider: str
    content_digest: str
    result: ReportedResult


_results = msgspec.json.Decoder(PushedResult)


def new_claim() -> str:
    """A secret by which one scanner gets the bytes of one scan."""
    return secrets.token_urlsafe(_CLAIM_BYTES)


def claiming(claim: str) -> dict[str, object]:
    """What the record of a scan that is sent says: until when an answer counts, and who gets the bytes."""
    env = current_env("clock")
    until_ms = env.clock.now_ms() + int(env.settings.external_scans_wait_s * 1000)
    return {"lease_until_ms": until_ms, "claim_hash": hash_secret(claim)}


async def push_request(scan: ExternalScan, *, claim: str) -> None:
    """Send a claimed scan to its scanner. Raises RemoteScannerUnreachable where it was not taken."""
    env = current_env("settings")
    provider = asked_providers().get(scan.provider)
    base = env.settings.public_url.rstrip("/")
    if provider is None or provider.carrier is not Carrier.PUSH or not base:
        raise RemoteScannerUnreachable(
            f"Nothing can be sent to {scan.provider}: EXTERNAL_PUSH has to name it, and PUBLIC_URL where results are sent."
        )
    body = msgspec.json.encode(_request(scan, claim=claim, base=base))
    headers = sign(body, id=scan.id, at_s=env.clock.now_ms() // 1000, secrets=[provider.secret])
    sender = Sender(env.settings)
    try:
        sent = await sender.send(provider.url, body=body, headers=headers)
    finally:
        await sender.close()
    if sent.status is None or not 200 <= sent.status < 300:
        raise RemoteScannerUnreachable(
            f"{scan.provider} did not take the scan: {sent.error or f'it answered {sent.status}'}",
            provider=scan.provider,
        )
    _log.info("external_scan_sent", slug=scan.slug, provider=scan.provider, id=scan.id)


async def accept_result(body: bytes, headers: Mapping[str, str]) -> ExternalScan:
    """Store a result that came by itself.

    Raises SignatureRefused for one that no provider of ours has signed, or that came before; ExternalScanOver for one that
    nobody waits for any more; InvalidInput for one that makes no sense or is about other bytes.
    """
    provider, message = _verified(body, headers)
    await refuse_repeated(message, receiver=RECEIVER)
    pushed = _decode(body)
    if pushed.provider != provider.name:
        raise SignatureRefused(f"The message is signed by {provider.name}, and speaks for another.", id=message)
    waiting = await _waiting(pushed)
    check_digest(waiting.scan, pushed.content_digest)
    report = await read_result(waiting.scan, pushed.result)

    async def find() -> FoundScan:
        await refuse_repeated(message, receiver=RECEIVER)
        return await _waiting(pushed)

    return await settle_scan(find, report, more=[accepting_once(message, receiver=RECEIVER)])


def _request(scan: ExternalScan, *, claim: str, base: str) -> ScanRequest:
    return ScanRequest(
        id=scan.id,
        provider=scan.provider,
        content_digest=scan.content_digest,
        tar_digest=scan.tar_digest,
        archive_url=f"{base}/api/v1/external-scans/{scan.provider}/{scan.id}/archive",
        claim=claim,
        results_url=f"{base}{RESULTS_PATH}",
        deadline=iso_from_ms(scan.lease_until_ms or 0),
    )


def _verified(body: bytes, headers: Mapping[str, str]) -> tuple[Provider, str]:
    """Whose secret has signed a message, and the message's id. Raises SignatureRefused where nobody's has."""
    refusal = SignatureRefused("No remote scanner is asked by message here.")
    now_s = current_env("clock").clock.now_ms() / 1000
    for provider in asked_providers().values():
        if provider.carrier is not Carrier.PUSH:
            continue
        try:
            return provider, verify(body, headers, secrets=[provider.secret], now_s=now_s)
        except SignatureRefused as error:
            refusal = error
    raise refusal


def _decode(body: bytes) -> PushedResult:
    try:
        return _results.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as exc:
        raise InvalidInput(f"The result has a wrong form: {exc}") from exc


async def _waiting(pushed: PushedResult) -> FoundScan:
    found = await find_open_scan(pushed.provider, pushed.id) if _is_key(pushed.id) else None
    now_ms = current_env("clock").clock.now_ms()
    if (
        found is None
        or found.scan.carrier is not Carrier.PUSH
        or found.scan.lease_until_ms is None
        or now_ms >= found.scan.lease_until_ms
        or await overtaken_by(found.scan)
    ):
        raise ExternalScanOver(
            f"Nobody waits for the scan '{pushed.id[:80]}' any more: it has ended, or it is too late.",
            id=pushed.id[:80],
        )
    return found


def _is_key(identity: str) -> bool:
    return 0 < len(identity) <= 80 and identity.isascii() and identity.isprintable()
