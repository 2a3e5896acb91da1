"""The stuck, as the sweep sees them: what is due, the longest first, with what the queue knows of each one's message.

It is read a page at a time from the due index that the sweep walks, so a long line costs no more than the page that is shown.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import structlog

from vskill_platform.domain.errors import MalformedRecord
from vskill_platform.domain.ids import SUBMISSION_PREFIX, MessageId
from vskill_platform.domain.records import Submission
from vskill_platform.domain.recovery import MessageStatus, Recovery, decide_recovery, is_stuck
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.ports.kv import DueIndex
from vskill_platform.ports.queue import MessageInfo
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.submissions import decode_submission, get_stuck_submissions, get_submissions_fresh
from vskill_platform.worker_context import current_env

_log = structlog.get_logger(__name__)


class StuckItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A submission that has not moved for the threshold. `next` is what the sweep will do with it."""

    id: str
    state: SubmissionState
    repo_url: str
    skill_name: str
    updated_at: str
    stuck_for_ms: int
    recoveries: int
    message: MessageStatus
    message_id: str | None
    attempts: int
    error: str | None
    next: Recovery


class StuckItems(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One page of the stuck, the longest first; `cursor` is null at the end. `malformed` records could not be read."""

    items: list[StuckItem]
    malformed: int
    cursor: str | None


async def read_stuck(*, cursor: str | None = None, limit: int = 100, before_ms: int | None = None) -> StuckItems:
    """The stuck as of now (or of `before_ms`), with their messages. Raises StoreUnavailable where that cannot be known."""
    env = current_env("kv")
    now_ms = env.clock.now_ms()
    if not isinstance(env.kv, DueIndex):
        found = await _read_all()
        return StuckItems(items=await _with_messages(found[:limit], now_ms=now_ms), malformed=0, cursor=None)
    horizon_ms = now_ms if before_ms is None else min(before_ms, now_ms)
    page = await env.kv.list_due(SUBMISSION_PREFIX, before_ms=horizon_ms, cursor=cursor, limit=limit)
    submissions: list[Submission] = []
    for key, _, entry in page.entries:
        try:
            submissions.append(decode_submission(key, entry.value))
        except MalformedRecord as error:
            _log.warning("stuck_record_malformed", key=key, error=error.message)
    return StuckItems(
        items=await _with_messages(submissions, now_ms=now_ms),
        malformed=len(page.entries) - len(submissions),
        cursor=None if page.complete else page.cursor,
    )


async def _read_all() -> list[Submission]:
    stuck = require_readable(await get_stuck_submissions())
    return list(require_readable(await get_submissions_fresh([item.id for item in stuck])))


async def _with_messages(submissions: Sequence[Submission], *, now_ms: int) -> list[StuckItem]:
    stuck = [one for one in submissions if is_stuck(one.state, updated_ms=one.updated_ms, now_ms=now_ms)]
    ids = [MessageId(one.message_id) for one in stuck if one.message_id is not None]
    messages = await current_env("queue").queue.find(ids)
    return [_item(one, messages.get(MessageId(one.message_id or "")), now_ms=now_ms) for one in stuck]


def _item(submission: Submission, info: MessageInfo | None, *, now_ms: int) -> StuckItem:
    status = MessageStatus.GONE if info is None else info.status
    return StuckItem(
        id=submission.id,
        state=submission.state,
        repo_url=submission.repo_url,
        skill_name=submission.skill_name,
        updated_at=submission.updated_at,
        stuck_for_ms=now_ms - submission.updated_ms,
        recoveries=submission.recoveries,
        message=status,
        message_id=submission.message_id,
        attempts=0 if info is None else info.attempts,
        error=None if info is None else info.error,
        next=decide_recovery(status, recoveries=submission.recoveries),
    )
