"""The newest result of each kind by provider, for operators. It is written with the result itself."""

from __future__ import annotations

import msgspec

from vskill_platform.domain.external_scan import ExternalScanStatus
from vskill_platform.domain.records import Record
from vskill_platform.ports.commit import Put
from vskill_platform.stores.reads import Settled, read_prefix
from vskill_platform.stores.records import decode_record, encode_record

LAST_PREFIX = "external-last:"


class LastResult(Record, frozen=True, kw_only=True, rename="camel"):
    """How the last scan of a provider went that ended so. `subject` is a slug, or the id of a submission."""

    provider: str
    status: ExternalScanStatus
    subject: str
    at: str
    score: int | None = None
    summary: str = ""
    provider_version: str = ""
    duration_ms: float = 0.0
    worker: str = ""


_results = msgspec.json.Decoder(LastResult)


def noting_result(result: LastResult) -> Put:
    """The operation that keeps a result as the newest of its kind. Whoever writes last was last."""
    return Put(f"{LAST_PREFIX}{result.provider}:{result.status.value}", encode_record(result))


async def list_last_results() -> Settled[LastResult]:
    """The newest result of each kind of every provider."""
    return await read_prefix(LAST_PREFIX, _decode)


def _decode(key: str, value: bytes) -> LastResult:
    return decode_record(key, value, decoder=_results)
