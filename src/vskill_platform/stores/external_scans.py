"""External scans: what each provider said of a skill."""

from __future__ import annotations

import msgspec

from vskill_platform.domain.external_scan import ExternalScanStatus
from vskill_platform.domain.records import Record
from vskill_platform.ports.commit import ABSENT, Emit, Put
from vskill_platform.stores.reads import Settled, read_prefix
from vskill_platform.stores.records import decode_record, encode_changed, encode_record
from vskill_platform.worker_context import current_env


class ExternalScan(Record, frozen=True, kw_only=True, rename="camel"):
    """What one provider said, or is being asked, of one skill."""

    slug: str
    provider: str
    status: ExternalScanStatus
    requested_at: str
    updated_at: str
    message_id: str | None = None
    score: int | None = None
    summary: str = ""


_scans = msgspec.json.Decoder(ExternalScan)


async def get_external_scan(slug: str, provider: str) -> ExternalScan | None:
    """What a provider said of a skill, or None if it was never asked."""
    key = external_scan_key(slug, provider)
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else decode_external_scan(key, entry.value)


async def list_external_scans(slug: str) -> Settled[ExternalScan]:
    """What every provider said of a skill."""
    return await read_prefix(external_scan_key(slug, ""), decode_external_scan)


async def put_external_scan(scan: ExternalScan) -> None:
    """Record what a provider said, in place of what it said before."""
    env = current_env("writes")
    key = external_scan_key(scan.slug, scan.provider)
    entry = await env.kv.get(key)
    if entry is None:
        operation = Put(key, encode_record(scan), if_version=ABSENT)
    else:
        operation = Put(key, encode_changed(scan, key=key, previous=entry.value), if_version=entry.version)
    await env.writes.commit([operation, telling(scan)])


def telling(scan: ExternalScan) -> Emit:
    """The event that says how a scan stands."""
    data = msgspec.json.encode({"slug": scan.slug, "provider": scan.provider, "status": scan.status})
    return Emit("external_scan.changed", scan.slug, data)


def external_scan_key(slug: str, provider: str) -> str:
    """The key of what one provider said of one skill."""
    return f"external-scan:{slug}:{provider}"


def decode_external_scan(key: str, value: bytes) -> ExternalScan:
    """The scan in a value. Raises MalformedRecord."""
    return decode_record(key, value, decoder=_scans)
