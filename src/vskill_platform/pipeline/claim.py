"""Claiming a submission: the one rule by which a delivery, the sweep and an admin keep out of each other's way.

A delivery claims by compare-and-set, and only while its own lease is live. Whoever loses stops. Every later write of the
delivery carries the version that its claim wrote, so a delivery that was overtaken can change nothing any more.
"""

from __future__ import annotations

import structlog

from vskill_platform.domain.errors import Conflict
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import ProcessSubmission
from vskill_platform.domain.records import Claim, Submission, advance
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.submission import DELIVERABLE_STATES, Actor, SubmissionState, Trigger, keep_approval
from vskill_platform.ports.commit import CheckIdle, CheckLease, Operation
from vskill_platform.ports.queue import Message
from vskill_platform.stores.submissions import Found, encode_moved, find_submission, moving
from vskill_platform.worker_context import current_env

BUSY_DELAY_S = 30.0
_TRIES = 5
_log = structlog.get_logger(__name__)


async def claim_submission(message: Message, task: ProcessSubmission) -> Found | None:
    """The submission, claimed for this delivery; or None, with the message decided.

    A stale run or a state that no delivery may move: acked. Another delivery that is alive: released, with a delay.
    """
    for _ in range(_TRIES):
        found = await find_submission(task.submission_id)
        if found is None or not is_deliverable(found.submission, run=task.run):
            _log.info("delivery_stale", submission=task.submission_id, run=task.run, message=message.id)
            message.ack()
            return None
        other = other_claim(found.submission, message.id)
        if other is not None and await _is_leased(other):
            message.release(delay_s=BUSY_DELAY_S)
            return None
        try:
            return await _take(found, message, other)
        except Conflict:
            continue
    message.release(delay_s=BUSY_DELAY_S)
    return None


def is_deliverable(submission: Submission, *, run: int) -> bool:
    """Whether a delivery for this run still has something to do."""
    return submission.run == run and submission.state in DELIVERABLE_STATES


def other_claim(submission: Submission, message_id: MessageId) -> MessageId | None:
    """The message that has the submission claimed, if it is another one."""
    claim = submission.claim
    return None if claim is None or claim.message_id == message_id else MessageId(claim.message_id)


async def _is_leased(message_id: MessageId) -> bool:
    info = (await current_env("queue").queue.find([message_id])).get(message_id)
    return info is not None and info.status is MessageStatus.LEASED


async def _take(found: Found, message: Message, other: MessageId | None) -> Found:
    env = current_env("writes")
    step = advance(
        found.submission,
        keep_approval(found.submission.state, otherwise=SubmissionState.TIER1_SCANNING),
        trigger=Trigger.CLAIMED,
        actor=Actor.WORKER,
        now_ms=env.clock.now_ms(),
        message=f"Claimed, attempt {message.attempts}.",
        claim=Claim(message_id=message.id, attempt=message.attempts),
    )
    operations: list[Operation] = [*moving(found, step), CheckLease(message.lease)]
    if other is not None:
        operations.append(CheckIdle(other))
    committed = await env.writes.commit(operations)
    return Found(step.submission, encode_moved(found, step.submission), committed.version)
