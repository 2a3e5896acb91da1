"""External scans: what each provider was asked and said of a skill.

A record is about the bytes that its `pin` names, asked for in one run of one submission, and about no others. Before a skill is
published its scans are kept under the submission's id, afterwards under the slug; `slug` says which.

Whatever is PENDING or RUNNING has an open key as well, oldest first by provider: remote workers find their work by it, and the
reaper what nobody works on any more.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NamedTuple

import msgspec

from vskill_platform.domain.external_provider import Carrier, Provider, parse_providers
from vskill_platform.domain.external_scan import (
    IN_PROGRESS,
    ExternalFinding,
    ExternalReport,
    ExternalScanStatus,
)
from vskill_platform.domain.records import Pin, Record
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import ABSENT, Delete, Emit, Operation, Put
from vskill_platform.stores.external_figures import LastResult, noting_result
from vskill_platform.stores.reads import Settled, list_keys, read_prefix
from vskill_platform.stores.records import decode_record, encode_changed, encode_record
from vskill_platform.worker_context import current_env

OPEN_PREFIX = "external-open:"


class ExternalScan(Record, frozen=True, kw_only=True, rename="camel"):
    """What one provider said, or is being asked, of one skill.

    `id` is that of the request, new each time that a provider is asked. `worker` is whoever has it, until `lease_until_ms` at
    most; `claim_hash` belongs to the secret that proves it. `attempts` counts the claims.
    """

    slug: str
    provider: str
    status: ExternalScanStatus
    requested_at: str
    updated_at: str
    message_id: str | None = None
    score: int | None = None
    summary: str = ""
    id: str = ""
    carrier: Carrier = Carrier.LOCAL
    submission_id: str = ""
    run: int = 0
    pin: Pin | None = None
    findings: tuple[ExternalFinding, ...] = ()
    left_off: int = 0
    provider_version: str = ""
    duration_ms: float = 0.0
    started_at: str | None = None
    completed_at: str | None = None
    worker: str = ""
    attempts: int = 0
    lease_until_ms: int | None = None
    claim_hash: str = ""

    @property
    def content_digest(self) -> str:
        """The bytes that it is about; empty for a record of before they were kept."""
        return "" if self.pin is None else self.pin.content_digest

    @property
    def tar_digest(self) -> str:
        """The archive of those bytes."""
        return "" if self.pin is None else self.pin.tar_digest

    @property
    def is_open(self) -> bool:
        """Whether an answer may still come."""
        return self.status in IN_PROGRESS

    def is_about(self, content_digest: str, *, run: int | None = None) -> bool:
        """Whether it is about these bytes, and where a run is given, asked for in it."""
        return bool(content_digest) and self.content_digest == content_digest and run in (None, self.run)


class FoundScan(NamedTuple):
    """A scan as it was read: the record, its bytes (which may hold more than we know), and its version."""

    scan: ExternalScan
    value: bytes
    version: int


class _Open(msgspec.Struct, frozen=True, rename="camel"):
    slug: str


_scans = msgspec.json.Decoder(ExternalScan)
_opens = msgspec.json.Decoder(_Open)


def named_providers() -> dict[str, Provider]:
    """The providers that EXTERNAL_SCANNERS names; programs of the operator's own are asked beside them."""
    settings = current_env("settings").settings
    named = parse_providers(
        settings.external_scanners, push=settings.external_push, secrets=settings.external_push_secrets
    )
    return dict(named)


async def find_external_scan(slug: str, provider: str) -> FoundScan | None:
    """What a provider said of a skill, to be changed; or None."""
    key = external_scan_key(slug, provider)
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else FoundScan(decode_external_scan(key, entry.value), entry.value, entry.version)


async def get_external_scan(slug: str, provider: str) -> ExternalScan | None:
    """What a provider said of a skill, or None if it was never asked."""
    found = await find_external_scan(slug, provider)
    return None if found is None else found.scan


async def list_external_scans(slug: str) -> Settled[ExternalScan]:
    """What every provider said of a skill, or of a submission that is yet to be published."""
    return await read_prefix(external_scan_key(slug, ""), decode_external_scan)


async def find_open_scan(provider: str, identity: str) -> FoundScan | None:
    """The scan of a request that is still open, or None."""
    entry = await current_env("kv").kv.get(open_key(provider, identity))
    if entry is None:
        return None
    slug = decode_record(open_key(provider, identity), entry.value, decoder=_opens).slug
    found = await find_external_scan(slug, provider)
    return found if found is not None and found.scan.id == identity and found.scan.is_open else None


async def iter_open(provider: str = "") -> AsyncIterator[tuple[str, str]]:
    """Provider and id of every open request, oldest first within a provider; of one provider if it is named."""
    prefix = f"{OPEN_PREFIX}{provider}:" if provider else OPEN_PREFIX
    async for page in list_keys(prefix):
        for key in page:
            name, _, identity = key.removeprefix(OPEN_PREFIX).rpartition(":")
            yield name, identity


async def put_external_scan(scan: ExternalScan) -> None:
    """Record what a provider said, in place of what it said before."""
    writes = current_env("writes").writes
    found = await find_external_scan(scan.slug, scan.provider)
    await writes.commit([putting_scan(scan, found), *telling(scan)])


def putting_scan(scan: ExternalScan, found: FoundScan | None) -> Put:
    """The operation that writes a scan in place of what was found, if nothing has touched that since."""
    key = external_scan_key(scan.slug, scan.provider)
    if found is None:
        return Put(key, encode_record(scan), if_version=ABSENT)
    return Put(key, encode_changed(scan, key=key, previous=found.value), if_version=found.version)


def ending_scan(found: FoundScan, report: ExternalReport) -> tuple[ExternalScan, list[Operation]]:
    """A scan with its answer, and the operations that store it."""
    now = iso_from_ms(current_env("clock").clock.now_ms())
    ended = msgspec.structs.replace(
        found.scan,
        status=report.status,
        score=report.score,
        summary=report.summary,
        findings=report.findings,
        left_off=report.left_off,
        provider_version=report.provider_version,
        duration_ms=report.duration_ms,
        updated_at=now,
        completed_at=now,
        lease_until_ms=None,
        claim_hash="",
    )
    return ended, [putting_scan(ended, found), *closing(ended), *telling(ended), _noting(ended)]


def _noting(scan: ExternalScan) -> Put:
    result = LastResult(
        provider=scan.provider,
        status=scan.status,
        subject=scan.slug,
        at=scan.updated_at,
        score=scan.score,
        summary=scan.summary,
        provider_version=scan.provider_version,
        duration_ms=scan.duration_ms,
        worker=scan.worker,
    )
    return noting_result(result)


def opening(scan: ExternalScan) -> Put:
    """The operation that makes a request known to whoever looks for open ones."""
    return Put(open_key(scan.provider, scan.id), msgspec.json.encode(_Open(scan.slug)))


def closing(scan: ExternalScan) -> list[Operation]:
    """The operation after which a request is not open any more."""
    return [Delete(open_key(scan.provider, scan.id))] if scan.id else []


def telling(scan: ExternalScan) -> list[Operation]:
    """The event that says how the scan of a published skill stands; of a submission, its own events tell."""
    if "/" not in scan.slug:
        return []
    data = msgspec.json.encode({"slug": scan.slug, "provider": scan.provider, "status": scan.status})
    return [Emit("external_scan.changed", scan.slug, data)]


def external_scan_key(slug: str, provider: str) -> str:
    """The key of what one provider said of one skill."""
    return f"external-scan:{slug}:{provider}"


def open_key(provider: str, identity: str) -> str:
    """The key of a request that is open. Ids sort by the time of asking."""
    return f"{OPEN_PREFIX}{provider}:{identity}"


def decode_external_scan(key: str, value: bytes) -> ExternalScan:
    """The scan in a value. Raises MalformedRecord."""
    return decode_record(key, value, decoder=_scans)
