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
from vskill_platform.domain.ids import SUBMISSION_PREFIX, MessageId, message_id
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE, ProcessSubmission, encode_message
from vskill_platform.domain.records import Record, Step, Submission, advance
from vskill_platform.domain.recovery import (
    MAX_RECOVERIES,
    MessageStatus,
    Recovery,
    decide_recovery,
    is_stuck,
)
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger, keep_approval
from vskill_platform.ports.commit import CheckStatus, Delete, Operation, Put, Send
from vskill_platform.ports.kv import DueIndex
from vskill_platform.stores.fan_out import settle_each
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.stores.submissions import (
    Found,
    decode_submission,
    find_submissions,
    get_stuck_submissions,
    moving,
)
from vskill_platform.worker_context import current_env

SWEEP_OUTCOMES = ("left", "requeued", "rejected", "conflicts", "malformed", "failed")
POSITION_KEY = "cron:sweep-position"
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
    entry = await env.kv.get(POSITION_KEY)
    fresh = _Position(horizon_ms=env.clock.now_ms())
    if entry is None:
        return fresh
    try:
        return decode_record(POSITION_KEY, entry.value, decoder=_positions)
    except MalformedRecord as error:
        _log.error("sweep_position_malformed", error=error.message)
        return fresh


async def _save_position(position: _Position) -> None:
    await current_env("writes").writes.commit([Put(POSITION_KEY, encode_record(position))])


async def _forget_position() -> None:
    env = current_env("writes")
    if await env.kv.get(POSITION_KEY) is not None:
        await env.writes.commit([Delete(POSITION_KEY)])


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
    submission = found.submission
    try:
        if recovery is Recovery.SEND_AGAIN:
            await _send_again(found)
            return "requeued"
        await _reject(found, recovery)
    except Conflict:
        _log.info("recovery_overtaken", submission=submission.id)
        return "conflicts"
    return "rejected"


async def _send_again(found: Found) -> None:
    env = current_env("queue")
    submission = found.submission
    identity = message_id(env.random_id())
    step = advance(
        submission,
        keep_approval(submission.state, otherwise=SubmissionState.RECEIVED),
        trigger=Trigger.RECOVERED,
        actor=Actor.SYSTEM,
        now_ms=env.clock.now_ms(),
        message=f"Its message was lost: sent again, {submission.recoveries + 1} of {MAX_RECOVERIES}.",
        recoveries=submission.recoveries + 1,
        message_id=identity,
        claim=None,
    )
    body = encode_message(ProcessSubmission(submission_id=submission.id, run=submission.run))
    again = Send(SUBMISSIONS_QUEUE, identity, body, priority=submission.priority)
    await _commit_move(found, step, again, if_status=MessageStatus.GONE)


async def _reject(found: Found, recovery: Recovery) -> None:
    trigger = Trigger(recovery.value)
    is_dead = recovery is Recovery.REJECT_DELIVERY_EXHAUSTED
    step = _rejecting(found.submission, trigger)
    await _commit_move(found, step, if_status=MessageStatus.DEAD if is_dead else MessageStatus.GONE)


def _rejecting(submission: Submission, trigger: Trigger) -> Step:
    why = {
        Trigger.RECOVERY_EXHAUSTED: f"Its message was lost {MAX_RECOVERIES + 1} times.",
        Trigger.DELIVERY_EXHAUSTED: "Every attempt to work on it failed; the dead letter has the last error.",
    }[trigger]
    return advance(
        submission,
        SubmissionState.REJECTED,
        trigger=trigger,
        actor=Actor.SYSTEM,
        now_ms=current_env("clock").clock.now_ms(),
        message=why,
        reason=trigger.value,
        claim=None,
    )


async def _commit_move(found: Found, step: Step, *more: Operation, if_status: MessageStatus) -> None:
    """The move, unless anybody has touched the submission or its message meanwhile."""
    operations: list[Operation] = [*moving(found, step), *more]
    if found.submission.message_id is not None:
        operations.append(CheckStatus(MessageId(found.submission.message_id), if_status))
    await current_env("writes").writes.commit(operations)
