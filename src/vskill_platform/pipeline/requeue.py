"""Sending something back into the queue by hand: the operator's way out, whatever it is that hangs."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from vskill_platform.domain.errors import Conflict, VskillError
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import ProcessSubmission, decode_message
from vskill_platform.domain.recovery import MessageStatus, Recovery, decide_recovery
from vskill_platform.domain.submission import CATEGORY_OF, Actor, Category
from vskill_platform.pipeline.dropping import drop_message
from vskill_platform.pipeline.recovering import send_again
from vskill_platform.pipeline.rescan import reprocess_submission
from vskill_platform.ports.commit import MOVABLE, Requeue
from vskill_platform.stores.submissions import Found, find_submission, get_submission
from vskill_platform.worker_context import current_env


class Requeued(StrEnum):
    """What sending back came to."""

    DELIVERABLE = "deliverable"
    NEW_RUN = "new_run"
    UNDER_WAY = "under_way"
    SENT_AGAIN = "sent_again"
    LOST = "lost"
    REFUSED = "refused"


class RequeueOutcome(NamedTuple):
    """What became of one wish to send back, in a word and in a sentence."""

    id: str
    outcome: Requeued
    detail: str


async def requeue(identity: str) -> RequeueOutcome:
    """Send back a submission, or a message by its own id.

    A dead letter becomes deliverable, its attempts counted from the start. A submission that has ended gets a new run. One
    that is waiting or in work is left alone. One whose message is lost is sent again at once, as the sweep would do later and as
    often as the sweep would.
    """
    try:
        if identity.startswith("msg_"):
            return await _requeue_letter(identity, MessageId(identity))
        return await _requeue_submission(identity)
    except VskillError as error:
        return RequeueOutcome(identity, Requeued.REFUSED, error.message)


async def _requeue_letter(identity: str, message_id: MessageId) -> RequeueOutcome:
    """A message by its id. One whose submission has ended since would be stale: the submission gets a new run instead."""
    queue = current_env("queue").queue
    info = (await queue.find([message_id])).get(message_id)
    task = None if info is None else decode_message(info.body)
    if not isinstance(task, ProcessSubmission) or not await _has_ended(task.submission_id):
        return await _requeue_message(identity, message_id)
    outcome = await _requeue_submission(task.submission_id)
    await drop_message(message_id, reason=f"{task.submission_id} has ended. {outcome.detail}")
    return outcome._replace(id=identity)


async def _has_ended(identity: str) -> bool:
    found = await find_submission(identity)
    return found is not None and CATEGORY_OF[found.submission.state] is not Category.ACTIVE


async def _requeue_submission(identity: str) -> RequeueOutcome:
    found = await get_submission(identity)
    if CATEGORY_OF[found.submission.state] is Category.ACTIVE:
        return await _requeue_active(found)
    try:
        again = await reprocess_submission(identity)
    except Conflict:
        return RequeueOutcome(identity, Requeued.UNDER_WAY, "Somebody else has just moved it.")
    return RequeueOutcome(identity, Requeued.NEW_RUN, f"Run {again.run} has started.")


async def _requeue_active(found: Found) -> RequeueOutcome:
    submission = found.submission
    outcome = await _requeue_message(submission.id, MessageId(submission.message_id or ""))
    if outcome.outcome is not Requeued.LOST:
        return outcome
    if decide_recovery(MessageStatus.GONE, recoveries=submission.recoveries) is not Recovery.SEND_AGAIN:
        detail = "Its message was lost too often. The next sweep turns it down; requeue it then for a new run."
        return outcome._replace(detail=detail)
    try:
        await send_again(found, actor=Actor.ADMIN)
    except Conflict:
        return RequeueOutcome(submission.id, Requeued.UNDER_WAY, "Somebody else has just moved it.")
    return RequeueOutcome(submission.id, Requeued.SENT_AGAIN, "Its message was lost and is sent again.")


async def _requeue_message(identity: str, message_id: MessageId) -> RequeueOutcome:
    env = current_env("queue")
    info = (await env.queue.find([message_id])).get(message_id)
    if info is None:
        return RequeueOutcome(identity, Requeued.LOST, "There is no such message.")
    if info.status not in MOVABLE[Requeue]:
        return RequeueOutcome(identity, Requeued.UNDER_WAY, f"Its message is {info.status.value}: nothing to do.")
    try:
        await env.writes.commit([Requeue(message_id)])
    except Conflict as error:
        return RequeueOutcome(identity, Requeued.UNDER_WAY, error.message)
    return RequeueOutcome(identity, Requeued.DELIVERABLE, "Its message is deliverable again.")
