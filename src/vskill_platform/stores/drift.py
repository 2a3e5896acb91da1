"""Whether the lists say what the records say: what the last whole comparison found, and how far the present one has come.

Lists are written in the commit of their records, so there should never be a difference. This is for the day on which there is.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from vskill_platform.domain.records import Record
from vskill_platform.ports.commit import ABSENT, Put
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

DRIFT_KEY = "drift"
MOST_TOLD = 20


class Comparison(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What was found so far. `missing` have no row, `differing` another one, `unbacked` are rows without a record.

    `malformed` records cannot be read at all. `told` names some of what differs. `ended_at` is null while it goes on.
    """

    began_at: str
    ended_at: str | None = None
    examined: int = 0
    missing: int = 0
    differing: int = 0
    unbacked: int = 0
    malformed: int = 0
    told: tuple[str, ...] = ()

    @property
    def drifted(self) -> int:
        """How many rows did not match."""
        return self.missing + self.differing + self.unbacked


class Drift(Record, frozen=True, kw_only=True, rename="camel"):
    """The last comparison that reached its end, if one ever did; and the one that is under way, with its place."""

    last: Comparison | None = None
    present: Comparison | None = None
    cursor: str | None = None


_drifts = msgspec.json.Decoder(Drift)


class FoundDrift(NamedTuple):
    """What is known of drift, and the version it was read at."""

    drift: Drift
    version: int


async def find_drift() -> FoundDrift:
    """What the comparisons have found; nothing where there was none yet."""
    entry = await current_env("kv").kv.get(DRIFT_KEY)
    if entry is None:
        return FoundDrift(Drift(), ABSENT)
    return FoundDrift(decode_record(DRIFT_KEY, entry.value, decoder=_drifts), entry.version)


async def save_drift(drift: Drift, *, if_version: int) -> None:
    """Keep how far the comparison has come. Raises Conflict where somebody else compares as well."""
    await current_env("writes").writes.commit([Put(DRIFT_KEY, encode_record(drift), if_version=if_version)])
