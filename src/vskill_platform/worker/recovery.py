"""The sweep: finds submissions that look stuck, asks the queue about their messages, and moves only what is lost.

It walks the due index to a horizon that is fixed when the walk begins, in a time box; a walk that runs out of time goes on
from its cursor at the next sweep. Each move is one commit under compare-and-set, so two sweeps at once, or a sweep and a
worker, move an item once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

import msgspec
import structlog

from vskill_platform import metrics
from vskill_platform.domain.errors import Conflict, InvalidCursor, MalformedRecord
from vskill_platform.domain.ids import SUBMISSION_PREFIX, MessageId
from vskill_platform.domain.records import Record
from vskill_platform.domain.recovery import MessageStatus, Recovery, decide_recovery, is_stuck
from vskill_platform.domain.submission import Actor
from vskill_platform.pipeline.recovering import give_up, send_again
from vskill_platform.ports.commit import Delete, Put
from vskill_platform.ports.kv import DueIndex
from vskill_platform.stores.cron_runs import SWEEP_POSITION_KEY
from vskill_platform.stores.fan_out import settle_each
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.stores.submissions import Found, decode_submission, find_submissions, get_stuck_submissions
from vskill_platform.worker_context import current_env

SWEEP_OUTCOMES = ("left", "requeued", "rejected", "conflicts", "malformed", "failed")
_PAGE = 500
_MOVES_IN_FLIGHT = 32
_log = structlog.get_logger(__name__)


class SweepReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a sweep did. `is_complete` says that it reached its horizon; otherwise the next sweep goes on."""

    examined: int = 0
    left: int = 0
    requeued: int = 0
    rejected: int = 0
    conflicts: int = 0
    malformed: int = 0
    failed: int = 0
    is_complete: bool = True


class _Position(Record, frozen=True, kw_only=True, rename="camel"):
    """Where a walk stands."""

    horizon_ms: int
    cursor: str | None = None


_positions = msgspec.json.Decoder(_Position)


class _Page(NamedTuple):
    """Submissions that are due, how many could not be read, and where the walk goes on (None: it is done)."""

    found: list[Found]
    malformed: int
    position: _Position | None


async def sweep_stuck_submissions() -> SweepReport:
    """Walk what is due and move what is lost, for as long as the time box allows."""
    env = current_env("clock")
    end_ms = env.clock.now_ms() + env.settings.sweep_time_box_s * 1000
    counts: Counter[str] = Counter()
    is_complete = True
    async for page in _pages():
        counts["malformed"] += page.malformed
        counts.update(await _recover_page(page.found))
        if page.position is not None and env.clock.now_ms() >= end_ms:
            await _save_position(page.position)
            is_complete = False
            break
    report = SweepReport(**counts, is_complete=is_complete)
    for outcome in SWEEP_OUTCOMES:
        metrics.SWEPT.labels(outcome).inc(getattr(report, outcome))
    has_news = any((report.requeued, report.rejected, report.malformed, report.failed))
    (_log.warning if has_news else _log.debug)("sweep_done", **msgspec.to_builtins(report))
    return report


async def _pages() -> AsyncIterator[_Page]:
    kv = current_env("kv").kv
    if not isinstance(kv, DueIndex):
        yield await _read_all_stuck()
        return
    position = await _load_position()
    while True:
        try:
            page = await kv.list_due(
                SUBMISSION_PREFIX, before_ms=position.horizon_ms, cursor=position.cursor, limit=_PAGE
            )
        except InvalidCursor as error:
            _log.error("sweep_cursor_refused", error=error.message)
            position = msgspec.structs.replace(position, cursor=None)
            continue
        found: list[Found] = []
        for key, _, entry in page.entries:
            try:
                found.append(Found(decode_submission(key, entry.value), entry.value, entry.version))
            except MalformedRecord as error:
                _log.error("stuck_record_malformed", key=key, error=error.message)
        malformed = len(page.entries) - len(found)
        if page.complete:
            await _forget_position()
            yield _Page(found, malformed, None)
            return
        position = msgspec.structs.replace(position, cursor=page.cursor)
        yield _Page(found, malformed, position)


async def _read_all_stuck() -> _Page:
    stuck = require_readable(await get_stuck_submissions())
    found = require_readable(await find_submissions([submission.id for submission in stuck]))
    return _Page(list(found), stuck.malformed + found.malformed, None)


async def _load_position() -> _Position:
    """Where the last walk stopped, or a fresh walk to now."""
    env = current_env("kv")
    entry = await env.kv.get(SWEEP_POSITION_KEY)
    fresh = _Position(horizon_ms=env.clock.now_ms())
    if entry is None:
        return fresh
    try:
        return decode_record(SWEEP_POSITION_KEY, entry.value, decoder=_positions)
    except MalformedRecord as error:
        _log.error("sweep_position_malformed", error=error.message)
        return fresh


async def _save_position(position: _Position) -> None:
    await current_env("writes").writes.commit([Put(SWEEP_POSITION_KEY, encode_record(position))])


async def _forget_position() -> None:
    env = current_env("writes")
    if await env.kv.get(SWEEP_POSITION_KEY) is not None:
        await env.writes.commit([Delete(SWEEP_POSITION_KEY)])


async def _recover_page(found: Sequence[Found]) -> Counter[str]:
    env = current_env("queue")
    now_ms = env.clock.now_ms()
    stuck = [f for f in found if is_stuck(f.submission.state, updated_ms=f.submission.updated_ms, now_ms=now_ms)]
    ids = [MessageId(f.submission.message_id) for f in stuck if f.submission.message_id is not None]
    messages = await env.queue.find(ids)
    lost: list[tuple[Found, Recovery]] = []
    for item in stuck:
        info = messages.get(MessageId(item.submission.message_id or ""))
        status = MessageStatus.GONE if info is None else info.status
        recovery = decide_recovery(status, recoveries=item.submission.recoveries)
        if recovery is not Recovery.LEAVE:
            lost.append((item, recovery))
    counts = Counter(examined=len(found), left=len(found) - len(lost))
    outcomes = await settle_each(lost, lambda item: _recover(*item), in_flight=_MOVES_IN_FLIGHT)
    for (item, _), outcome in zip(lost, outcomes, strict=True):
        if isinstance(outcome, Exception):
            _log.error("recovery_failed", submission=item.submission.id, error=str(outcome))
            counts["failed"] += 1
        else:
            counts[outcome] += 1
    return counts


async def _recover(found: Found, recovery: Recovery) -> str:
    """Move one submission. Says under which count it falls."""
    try:
        if recovery is Recovery.SEND_AGAIN:
            await send_again(found, actor=Actor.SYSTEM)
            return "requeued"
        await give_up(found, recovery)
    except Conflict:
        _log.info("recovery_overtaken", submission=found.submission.id)
        return "conflicts"
    return "rejected"
