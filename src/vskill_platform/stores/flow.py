"""What flows through the registry lately, for who watches it: what is taken up, what fails and by which reason, how scans end.

All of it was counted from the event log (`series.py`). Where nobody counts, or has not for a while, nothing is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from vskill_platform.domain.times import hour_of, ms_from_iso
from vskill_platform.ports.commit import ABSENT
from vskill_platform.stores.series import (
    FAILURE,
    HOUR_MS,
    LIMITED,
    SLICE_MS,
    VERDICT,
    HourRecord,
    find_cursor,
    read_hours,
    slice_name,
)
from vskill_platform.worker_context import current_env

FLOW_HOURS = 24
RECENT_MS = 15 * 60_000
SCANS_HOURS = 2


class Flow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What was counted lately. `taken_up` is of the last quarter of an hour, scans of two hours, failures of a day.

    `failures` has how many submissions were turned down by each reason, the most frequent first. `counted_at` is up to when
    it is counted. All is null where nobody has counted for a quarter of an hour.
    """

    counted_at: str | None = None
    taken_up: int | None = None
    scans: int | None = None
    limited_scans: int | None = None
    failures: dict[str, int] | None = None


async def read_flow() -> Flow:
    """What flows lately. Raises StoreUnavailable where that cannot be read."""
    now_ms = current_env("clock").clock.now_ms()
    known = await find_cursor()
    if known.version == ABSENT or now_ms - ms_from_iso(known.cursor.counted_at) > RECENT_MS:
        return Flow(counted_at=known.cursor.counted_at or None)
    names = [hour_of(now_ms - back * HOUR_MS) for back in range(FLOW_HOURS + 1)]
    records = await read_hours(names)
    counts = _sum(records[name] for name in names[: SCANS_HOURS + 1] if name in records)
    return Flow(
        counted_at=known.cursor.counted_at,
        taken_up=_taken_up(records, now_ms=now_ms),
        scans=sum(count for name, count in counts.items() if name.startswith(VERDICT)),
        limited_scans=counts[LIMITED],
        failures=_failures(_sum(records.values())),
    )


def _sum(records: Iterable[HourRecord]) -> Counter[str]:
    total: Counter[str] = Counter()
    for record in records:
        total.update(record.counts)
    return total


def _taken_up(records: dict[str, HourRecord], *, now_ms: int) -> int:
    slices = range((now_ms - RECENT_MS) // SLICE_MS, now_ms // SLICE_MS + 1)
    moments = [number * SLICE_MS for number in slices]
    return sum(
        records[hour_of(moment)].counts.get(slice_name(moment), 0) for moment in moments if hour_of(moment) in records
    )


def _failures(counts: Counter[str]) -> dict[str, int]:
    found = {name.removeprefix(FAILURE): count for name, count in counts.items() if name.startswith(FAILURE)}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
