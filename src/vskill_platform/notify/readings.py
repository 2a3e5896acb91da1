"""The facts that alerts are judged by, read one by one: what cannot be read leaves the others as they are.

Some facts are about time: how long nothing has moved, how long a pause has lasted. They need a memory from one look to the
next, which is kept as `alert-watch` and forgotten where nobody looked for a while, so that a registry that was off is not
taken for one that stands still.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

import msgspec

from vskill_platform.domain.alert import MachineReading, PauseReading, QueueReading, Reading
from vskill_platform.domain.errors import StoreUnavailable, VskillError
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.records import Record
from vskill_platform.domain.times import hour_of, ms_from_iso
from vskill_platform.ports.commit import Put
from vskill_platform.ports.queue import QueueStats
from vskill_platform.stores.facts import count_stuck
from vskill_platform.stores.flow import RECENT_MS, Flow, read_flow
from vskill_platform.stores.machines import MachineReport, list_machines
from vskill_platform.stores.pause import get_pause
from vskill_platform.stores.reads import read_keys, require_complete
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.stores.series import CUT_OFF, HOUR_MS, read_hours
from vskill_platform.worker_context import current_env

WATCH_KEY = "alert-watch"
_GAP_LOOKS = 5
_FAILED = "failed.scanner_unavailable"
T = TypeVar("T")


class Watch(Record, frozen=True, kw_only=True, rename="camel"):
    """What the last look leaves to the next: when it was, and since when things have been as they are."""

    looked_ms: int
    backlog_since_ms: int | None = None
    stalled_since_ms: int | None = None
    uncounted_since_ms: int | None = None
    paused_since_ms: int | None = None


class _PauseTimes(NamedTuple):
    since_ms: int
    until_ms: int


class Read(NamedTuple):
    """A reading, and what the next look has to know."""

    reading: Reading
    watch: Watch


_watches = msgspec.json.Decoder(Watch)
_counters = msgspec.json.Decoder(dict[str, int])


async def read_facts() -> Read:
    """Every fact that could be read, and why the others could not."""
    unknown: dict[str, str] = {}
    now_ms = current_env("clock").clock.now_ms()
    watch = await _try("last look", _find_watch, unknown)
    stuck = await _try("stuck submissions", count_stuck, unknown)
    stats = await _try("queue", _stats, unknown)
    pause = await _try("pause", _pause_times, unknown)
    flow = await _try("throughput", read_flow, unknown)
    errors = await _try("scanner errors", count_scanner_errors, unknown)
    machines = await _try("machines", list_machines, unknown)
    known = _remembered(watch, now_ms)
    known = _note_pause(known, pause, is_known="pause" not in unknown)
    if stats is not None:
        known = _note_throughput(known, stats, flow)
        _tell_uncounted(known, unknown)
    reading = Reading(
        stuck=stuck,
        queue=None if stats is None else _queue_reading(stats, known, is_counted="throughput" not in unknown),
        pause=None if pause is None else _pause_reading(pause, known),
        scanner_errors=errors,
        machines=None if machines is None else tuple(_machine_reading(machine) for machine in machines),
        unknown=unknown,
    )
    return Read(reading, known)


def keeping_watch(watch: Watch) -> Put:
    """The operation that leaves a note to the next look."""
    return Put(WATCH_KEY, encode_record(watch))


async def count_scanner_errors() -> int:
    """Scans without a report in this hour and the one before: cut off ones, and those that found no scanner."""
    now_ms = current_env("clock").clock.now_ms()
    hours = [hour_of(moment_ms) for moment_ms in (now_ms - HOUR_MS, now_ms)]
    keys = [f"metric:{hour}" for hour in hours]
    failed = require_complete(await read_keys(keys, lambda key, value: decode_record(key, value, decoder=_counters)))
    counted = [record.counts.get(CUT_OFF, 0) for record in (await read_hours(hours)).values()]
    return sum(counts.get(_FAILED, 0) for counts in failed) + sum(counted)


async def _try(name: str, read: Callable[[], Awaitable[T]], unknown: dict[str, str]) -> T | None:
    try:
        return await read()
    except VskillError as error:
        unknown[name] = f"{error.code}: {error.message}"
        return None


async def _stats() -> QueueStats:
    return await current_env("queue").queue.stats(SUBMISSIONS_QUEUE)


async def _find_watch() -> Watch | None:
    entry = await current_env("kv").kv.get(WATCH_KEY)
    return None if entry is None else decode_record(WATCH_KEY, entry.value, decoder=_watches)


def _remembered(watch: Watch | None, now_ms: int) -> Watch:
    """What is still worth something of the last look. After a gap, or on a clock that was set back, nothing is."""
    gap_ms = current_env("settings").settings.alert_interval_s * 1000 * _GAP_LOOKS
    if watch is None or not 0 <= now_ms - watch.looked_ms <= gap_ms:
        return Watch(looked_ms=now_ms)
    return msgspec.structs.replace(watch, looked_ms=now_ms)


async def _pause_times() -> _PauseTimes | None:
    pause = await get_pause()
    if pause is None:
        return None
    try:
        return _PauseTimes(ms_from_iso(pause.since), ms_from_iso(pause.until))
    except ValueError as error:
        raise StoreUnavailable(f"The pause does not say since and until when: {error}.") from error


def _note_pause(watch: Watch, pause: _PauseTimes | None, *, is_known: bool) -> Watch:
    """Since when the queue is paused: prolonging a pause sets a new beginning, which is not the one that counts here."""
    if pause is None:
        return msgspec.structs.replace(watch, paused_since_ms=None) if is_known else watch
    since_ms = pause.since_ms if watch.paused_since_ms is None else min(pause.since_ms, watch.paused_since_ms)
    return msgspec.structs.replace(watch, paused_since_ms=since_ms)


def _note_throughput(watch: Watch, stats: QueueStats, flow: Flow | None) -> Watch:
    """Since when nothing is taken up although something waits, and since when that cannot be said."""
    change = msgspec.structs.replace
    if not stats.waiting or watch.paused_since_ms is not None:
        return change(watch, backlog_since_ms=None, stalled_since_ms=None, uncounted_since_ms=None)
    if flow is None:
        return watch
    watch = change(watch, backlog_since_ms=_earlier(watch.backlog_since_ms, watch.looked_ms))
    if flow.taken_up is None:
        return change(watch, uncounted_since_ms=_earlier(watch.uncounted_since_ms, watch.looked_ms))
    if flow.taken_up:
        return change(watch, stalled_since_ms=None, uncounted_since_ms=None)
    at_most_ms = max(_earlier(watch.backlog_since_ms, watch.looked_ms), watch.looked_ms - RECENT_MS)
    return change(watch, stalled_since_ms=_earlier(watch.stalled_since_ms, at_most_ms), uncounted_since_ms=None)


def _earlier(known_ms: int | None, otherwise_ms: int) -> int:
    return otherwise_ms if known_ms is None else known_ms


def _tell_uncounted(watch: Watch, unknown: dict[str, str]) -> None:
    """A backlog whose throughput nobody counts is no backlog without throughput: it is not known, which is told."""
    limit_ms = current_env("settings").settings.alert_no_throughput_s * 1000
    if watch.uncounted_since_ms is not None and watch.looked_ms - watch.uncounted_since_ms >= limit_ms:
        unknown["throughput"] = "the figures are not counted; see that a cron process runs"


def _queue_reading(stats: QueueStats, watch: Watch, *, is_counted: bool) -> QueueReading:
    stalled_ms = 0 if watch.stalled_since_ms is None else watch.looked_ms - watch.stalled_since_ms
    return QueueReading(waiting=stats.waiting, dead=stats.dead, stalled_ms=stalled_ms if is_counted else None)


def _pause_reading(pause: _PauseTimes, watch: Watch) -> PauseReading:
    since_ms = watch.looked_ms if watch.paused_since_ms is None else watch.paused_since_ms
    return PauseReading(
        lasted_ms=max(0, watch.looked_ms - since_ms), overdue_ms=max(0, watch.looked_ms - pause.until_ms)
    )


def _machine_reading(report: MachineReport) -> MachineReading:
    return MachineReading(
        host=report.host,
        free_bytes=report.free_bytes,
        total_bytes=report.total_bytes,
        folder=report.folder,
        skew_ms=report.skew_ms,
        trouble=report.trouble,
    )
