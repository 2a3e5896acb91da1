"""What each machine says of itself: `machine:{host}`, written by the processes that run there, gone when they are.

No process can look at another machine's disk or clock, so each tells of its own.
"""

from __future__ import annotations

import msgspec

from vskill_platform.domain.records import Record
from vskill_platform.ports.commit import Put
from vskill_platform.stores.reads import read_prefix, require_complete
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

_PREFIX = "machine:"
REPORT_KEPT_S = 600.0
"""How long a machine is spoken of after its last word."""


class MachineReport(Record, frozen=True, kw_only=True, rename="camel"):
    """One machine at one moment. `latest_ms` is the latest time that its processes have ever seen on its clock.

    `back_since_ms` is since when, by its clock, it has been behind that. `skew_ms` is how far the clock is behind the
    database's, or behind what it has shown before; null where `trouble` says why that could not be found out.
    """

    host: str
    at_ms: int
    latest_ms: int
    back_since_ms: int | None = None
    folder: str
    free_bytes: int | None
    total_bytes: int | None
    skew_ms: float | None
    trouble: str | None = None


_reports = msgspec.json.Decoder(MachineReport)


async def find_machine(host: str) -> MachineReport | None:
    """What the machine last said, or None where that was too long ago."""
    key = _key(host)
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else decode_record(key, entry.value, decoder=_reports)


async def list_machines() -> list[MachineReport]:
    """Every machine that has said something lately. Raises StoreUnavailable where one cannot be read."""
    return require_complete(await read_prefix(_PREFIX, lambda key, value: decode_record(key, value, decoder=_reports)))


async def keep_machine(report: MachineReport) -> None:
    """Write what a machine says of itself, for a while."""
    await current_env("writes").writes.commit([Put(_key(report.host), encode_record(report), ttl_s=REPORT_KEPT_S)])


def _key(host: str) -> str:
    return f"{_PREFIX}{host}"
