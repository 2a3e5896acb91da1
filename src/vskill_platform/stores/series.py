"""Figures over time: what came in, what became of it, and how long the queue was, by the hour.

Nobody counts along while submissions move: a counter that every commit adds to would make all commits wait for each other. The
event log has every step already, written in the commit of the step. A cron job reads on in it and writes the hours' figures
in one commit with how far it has come, so each event counts once, however often the job dies or two of them run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from vskill_platform.domain.errors import Conflict, InvalidInput
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.records import Record
from vskill_platform.domain.scan import Verdict
from vskill_platform.domain.submission import SubmissionState, Trigger
from vskill_platform.domain.times import hour_of, iso_from_ms, ms_from_iso
from vskill_platform.ports.commit import ABSENT, Put
from vskill_platform.ports.events import Event
from vskill_platform.stores.news import SubmissionNews, read_scan, read_step
from vskill_platform.stores.reads import read_keys, require_complete
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

HOUR_MS = 3_600_000
SLICE_MS = 300_000
"""What is taken out of the queue is also counted by slices of five minutes: how fast it goes now says how long one waits."""
MOST_HOURS = 24 * 31
_KEPT_S = 400 * 86_400.0
_CURSOR_KEY = "series:cursor"
VERDICT = "verdict."
FAILURE = "failure."
"""What was turned down is also counted by its reason."""
LIMITED = "scan.limited"
"""Scans that a crash, a time-out or another limit kept from seeing everything."""
CUT_OFF = "scan.cutOff"
"""Those of them that ended without a report of their own."""
_NEW_RUNS = frozenset(
    {Trigger.SUBMITTED, Trigger.RESUBMITTED, Trigger.RESCANNED, Trigger.REPROCESSED, Trigger.UNBLOCKED}
)
_FIGURES = {
    SubmissionState.PUBLISHED: "published",
    SubmissionState.EXPANDED: "expanded",
    SubmissionState.NEEDS_REVIEW: "review",
    SubmissionState.TIER1_FAILED: "failed",
    SubmissionState.REJECTED: "failed",
    SubmissionState.BLOCKED: "blocked",
}
_FAILED = frozenset({SubmissionState.TIER1_FAILED, SubmissionState.REJECTED, SubmissionState.BLOCKED})


class Depth(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How long the queue was when somebody looked: at the last look of the hour, at the most, and on the average."""

    last: int
    most: int
    total: int
    looks: int


class HourRecord(Record, frozen=True, kw_only=True, rename="camel"):
    """What was counted in one hour, by name: figures, `verdict.PASS`, `failure.no_skill_found`, `takenUp.03` for a slice."""

    hour: str
    counts: dict[str, int]
    depth: Depth | None = None


class SeriesCursor(Record, frozen=True, kw_only=True, rename="camel"):
    """How far the log has been counted, and up to when. Hours before `since` are not whole: then nobody counted."""

    sequence: int
    since: str
    counted_at: str


class Hour(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The figures of one hour. What nobody knows is null: the hour lies before anybody counted, or is not counted yet."""

    hour: str
    received: int | None = None
    expanded: int | None = None
    published: int | None = None
    failed: int | None = None
    review: int | None = None
    blocked: int | None = None
    verdicts: dict[str, int] | None = None
    depth_last: int | None = None
    depth_most: int | None = None
    depth_mean: float | None = None


class Series(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Figures by the hour, the oldest first, and up to when they are counted; null where nothing was ever counted."""

    hours: list[Hour]
    counted_at: str | None


_hours = msgspec.json.Decoder(HourRecord)
_cursors = msgspec.json.Decoder(SeriesCursor)


class Counted(NamedTuple):
    """The cursor and its version; ABSENT where nothing was ever counted."""

    cursor: SeriesCursor
    version: int


async def count_events() -> dict[str, int]:
    """Read on in the log to its end, add to the figures of the hours, and look how long the queue is."""
    env = current_env("events")
    counted = 0
    while True:
        known, now_ms = await find_cursor(), env.clock.now_ms()
        page = await env.events.read(known.cursor.sequence)
        if page.reset:
            since = hour_of(now_ms + HOUR_MS)
            await _write({}, known, sequence=page.last, since=since, counted_ms=now_ms)
            return {"events": counted, "resets": 1}
        counted_ms = page.events[-1].at_ms if page.events else now_ms
        added = _by_hour(page.events)
        await _write(added, known, sequence=page.last, since=known.cursor.since, counted_ms=counted_ms)
        counted += len(page.events)
        if not page.events:
            await _sample_depth()
            return {"events": counted, "resets": 0}


async def read_series(hours: int = 48) -> Series:
    """The figures of the last hours, the present one included. Raises StoreUnavailable where they cannot be read."""
    if not 1 <= hours <= MOST_HOURS:
        raise InvalidInput(f"Figures are kept by the hour; ask for 1 to {MOST_HOURS} of them, not {hours}.")
    now_ms = current_env("clock").clock.now_ms()
    names = [hour_of(now_ms - back * HOUR_MS) for back in reversed(range(hours))]
    known = await find_cursor()
    records = await read_hours(names)
    if known.version == ABSENT:
        return Series(hours=[Hour(hour=name) for name in names], counted_at=None)
    until = hour_of(ms_from_iso(known.cursor.counted_at))
    shown = [
        _show(name, records.get(name)) if known.cursor.since <= name <= until else Hour(hour=name) for name in names
    ]
    return Series(hours=shown, counted_at=known.cursor.counted_at)


async def recent_rate(*, minutes: int = 15) -> float | None:
    """How many submissions a second were taken up lately; None where that is not known or there were none."""
    now_ms = current_env("clock").clock.now_ms()
    known = await find_cursor()
    window_ms = minutes * 60_000
    if known.version == ABSENT or now_ms - ms_from_iso(known.cursor.counted_at) > window_ms:
        return None
    slices = range((now_ms - window_ms) // SLICE_MS, now_ms // SLICE_MS + 1)
    records = await read_hours(list(dict.fromkeys(hour_of(number * SLICE_MS) for number in slices)))
    taken = sum(
        record.counts.get(slice_name(number * SLICE_MS), 0)
        for number in slices
        if (record := records.get(hour_of(number * SLICE_MS))) is not None
    )
    seconds = (now_ms - slices.start * SLICE_MS) / 1000
    return taken / seconds if taken else None


def _by_hour(events: Iterable[Event]) -> dict[str, Counter[str]]:
    """What these events count for, by hour and name."""
    added: dict[str, Counter[str]] = {}
    for event in events:
        for name in _names(event):
            added.setdefault(hour_of(event.at_ms), Counter())[name] += 1
    return added


def _names(event: Event) -> Iterator[str]:
    """What one event counts as."""
    scan = read_scan(event)
    step = read_step(event)
    if scan is not None:
        yield f"{VERDICT}{scan.verdict.value}"
        if scan.limits_hit:
            yield LIMITED
        if scan.ended_early:
            yield CUT_OFF
    elif step is not None:
        yield from _names_of_step(step, at_ms=event.at_ms)


def _names_of_step(step: SubmissionNews, *, at_ms: int) -> Iterator[str]:
    if step.trigger is Trigger.CLAIMED and step.source is SubmissionState.RECEIVED:
        yield slice_name(at_ms)
    elif step.state is SubmissionState.RECEIVED:
        if step.trigger in _NEW_RUNS or step.source is None:
            yield "received"
    elif step.state in _FIGURES:
        yield _FIGURES[step.state]
        if step.state in _FAILED:
            yield f"{FAILURE}{step.reason or step.state.value.lower()}"


def slice_name(at_ms: int) -> str:
    """The five minutes of its hour that a moment falls in."""
    return f"takenUp.{at_ms % HOUR_MS // SLICE_MS:02d}"


async def _write(
    added: Mapping[str, Counter[str]], known: Counted, *, sequence: int, since: str, counted_ms: int
) -> None:
    """The hours and the cursor in one commit, if nobody has counted meanwhile."""
    operations = []
    for hour, counts in added.items():
        record, version = await _find_hour(hour)
        sums = dict(Counter(record.counts) + counts)
        operations.append(_put(msgspec.structs.replace(record, counts=sums), version))
    cursor = SeriesCursor(sequence=sequence, since=since, counted_at=iso_from_ms(counted_ms))
    counted = Put(_CURSOR_KEY, encode_record(cursor), if_version=known.version)
    await current_env("writes").writes.commit([*operations, counted])


async def _sample_depth() -> None:
    """Note how long the queue is now. Somebody else may note it at the same time: one look more or less is no matter."""
    env = current_env("queue")
    stats = await env.queue.stats(SUBMISSIONS_QUEUE)
    depth = stats.waiting + stats.delayed + stats.leased
    record, version = await _find_hour(hour_of(env.clock.now_ms()))
    looked = record.depth or Depth(last=0, most=0, total=0, looks=0)
    now = Depth(last=depth, most=max(looked.most, depth), total=looked.total + depth, looks=looked.looks + 1)
    try:
        await env.writes.commit([_put(msgspec.structs.replace(record, depth=now), version)])
    except Conflict:
        return


async def _find_hour(hour: str) -> tuple[HourRecord, int]:
    key = _hour_key(hour)
    entry = await current_env("kv").kv.get(key)
    if entry is None:
        return HourRecord(hour=hour, counts={}), ABSENT
    return decode_record(key, entry.value, decoder=_hours), entry.version


def _put(record: HourRecord, version: int) -> Put:
    return Put(_hour_key(record.hour), encode_record(record), if_version=version, ttl_s=_KEPT_S)


async def find_cursor() -> Counted:
    """How far the log has been counted."""
    entry = await current_env("kv").kv.get(_CURSOR_KEY)
    if entry is None:
        return Counted(SeriesCursor(sequence=0, since="", counted_at=""), ABSENT)
    return Counted(decode_record(_CURSOR_KEY, entry.value, decoder=_cursors), entry.version)


async def read_hours(names: list[str]) -> dict[str, HourRecord]:
    """What was counted in these hours; one in which nothing happened is not there."""

    def decode(key: str, value: bytes) -> HourRecord:
        return decode_record(key, value, decoder=_hours)

    found = require_complete(await read_keys([_hour_key(name) for name in names], decode))
    return {record.hour: record for record in found}


def _show(name: str, record: HourRecord | None) -> Hour:
    counts, depth = ({}, None) if record is None else (record.counts, record.depth)
    return Hour(
        hour=name,
        received=counts.get("received", 0),
        expanded=counts.get("expanded", 0),
        published=counts.get("published", 0),
        failed=counts.get("failed", 0),
        review=counts.get("review", 0),
        blocked=counts.get("blocked", 0),
        verdicts={verdict.value: counts.get(f"{VERDICT}{verdict.value}", 0) for verdict in Verdict},
        depth_last=None if depth is None else depth.last,
        depth_most=None if depth is None else depth.most,
        depth_mean=None if depth is None else round(depth.total / depth.looks, 1),
    )


def _hour_key(hour: str) -> str:
    return f"series:hour:{hour}"
