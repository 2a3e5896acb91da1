"""Holding the lists against the records, a little at a time, and changing nothing.

Each run goes on where the last one stopped, for as long as its time box allows, so a registry of any size is walked through while
it works. What was found is kept with its time, for people; mending is theirs to order (`vskill-platform rebuild-catalog`).
"""

from __future__ import annotations

import msgspec
import structlog

from vskill_platform.domain.times import iso_from_ms
from vskill_platform.moving.catalog import CatalogSlice, rebuild_catalog_slice
from vskill_platform.stores.drift import MOST_TOLD, Comparison, Drift, find_drift, save_drift
from vskill_platform.worker_context import current_env

_COUNTS = ("examined", "missing", "differing", "unbacked", "malformed")
_log = structlog.get_logger(__name__)


async def compare_catalog() -> dict[str, int]:
    """Compare on from where the last run stopped. Gives what this run has looked at and found."""
    env = current_env("clock")
    found = await find_drift()
    end_ms = env.clock.now_ms() + env.settings.drift_time_box_s * 1000
    before = found.drift.present or Comparison(began_at=iso_from_ms(env.clock.now_ms()))
    present, cursor = before, found.drift.cursor
    while True:
        part = await rebuild_catalog_slice(cursor, is_dry_run=True)
        present, cursor = _add(present, part), part.cursor
        if cursor is None or env.clock.now_ms() >= end_ms:
            break
    await save_drift(_next(found.drift, present, cursor), if_version=found.version)
    return {"examined": present.examined - before.examined, "drifted": present.drifted - before.drifted}


def _add(comparison: Comparison, part: CatalogSlice) -> Comparison:
    sums = {name: getattr(comparison, name) + getattr(part, name) for name in _COUNTS}
    return msgspec.structs.replace(comparison, **sums, told=(*comparison.told, *part.told)[:MOST_TOLD])


def _next(drift: Drift, present: Comparison, cursor: str | None) -> Drift:
    """What is to be kept: a comparison that goes on, or one that has reached its end."""
    if cursor is not None:
        return msgspec.structs.replace(drift, present=present, cursor=cursor)
    ended = msgspec.structs.replace(present, ended_at=iso_from_ms(current_env("clock").clock.now_ms()))
    if ended.drifted:
        _log.error("catalog_drift", **{name: getattr(ended, name) for name in _COUNTS}, told=ended.told)
    return msgspec.structs.replace(drift, last=ended, present=None, cursor=None)
