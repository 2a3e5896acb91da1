"""Taking a submission out: it is not to be worked on any more, for a reason that its history keeps."""

from __future__ import annotations

from vskill_platform.domain.errors import Conflict, InvalidInput
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.records import Submission, advance
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.ports.commit import CheckStatus, DropMessage, Operation
from vskill_platform.stores.submissions import get_submission, moving
from vskill_platform.worker_context import current_env

_TRIES = 5
_DROPPED = (MessageStatus.WAITING, MessageStatus.DELAYED, MessageStatus.DEAD)


async def dequeue_submission(
    identity: str, *, reason: str, actor: Actor = Actor.ADMIN, trigger: Trigger = Trigger.DEQUEUED
) -> Submission:
    """Take out what waits or is in work, with its message. Raises IllegalTransition for what has ended or is approved.

    Work that is under way at this moment comes to nothing: its last commit finds that the submission has moved.
    """
    if not reason.strip():
        raise InvalidInput("Say why: taking a submission out needs a reason, which its history keeps.")
    for attempt in range(_TRIES):
        try:
            return await _dequeue(identity, reason=reason.strip(), actor=actor, trigger=trigger)
        except Conflict:
            if attempt == _TRIES - 1:
                raise
    raise AssertionError("unreachable")


async def _dequeue(identity: str, *, reason: str, actor: Actor, trigger: Trigger) -> Submission:
    env = current_env("writes")
    found = await get_submission(identity)
    step = advance(
        found.submission,
        SubmissionState.DEQUEUED,
        trigger=trigger,
        actor=actor,
        now_ms=env.clock.now_ms(),
        message=f"Taken out: {reason}",
        reason=trigger.value,
        claim=None,
    )
    await env.writes.commit([*moving(found, step), *await _ending(found.submission.message_id, reason=reason)])
    return step.submission


async def _ending(message_id: str | None, *, reason: str) -> list[Operation]:
    """What becomes of the message: dropped, or left to the worker that has it and will find it stale."""
    if message_id is None:
        return []
    identity = MessageId(message_id)
    info = (await current_env("queue").queue.find([identity])).get(identity)
    if info is not None and info.status in _DROPPED:
        return [DropMessage(identity, reason)]
    return [CheckStatus(identity, MessageStatus.GONE if info is None else info.status)]
