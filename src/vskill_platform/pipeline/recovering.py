"""What is done about a submission whose message is lost or given up: sent again, or turned down with the reason.

The sweep does so by itself, and an operator who does not want to wait for it does the very same.
"""

from __future__ import annotations

from vskill_platform.domain.ids import MessageId, message_id
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE, ProcessSubmission, encode_message
from vskill_platform.domain.records import Step, Submission, advance
from vskill_platform.domain.recovery import MAX_RECOVERIES, MessageStatus, Recovery
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger, keep_approval
from vskill_platform.ports.commit import CheckStatus, Operation, Send
from vskill_platform.stores.submissions import Found, moving
from vskill_platform.worker_context import current_env


async def send_again(found: Found, *, actor: Actor) -> Submission:
    """Send a submission's message again, because it is lost. Raises Conflict where it is not, or somebody was faster."""
    env = current_env("queue")
    submission = found.submission
    identity = message_id(env.random_id())
    step = advance(
        submission,
        keep_approval(submission.state, otherwise=SubmissionState.RECEIVED),
        trigger=Trigger.RECOVERED,
        actor=actor,
        now_ms=env.clock.now_ms(),
        message=f"Its message was lost: sent again, {submission.recoveries + 1} of {MAX_RECOVERIES}.",
        recoveries=submission.recoveries + 1,
        message_id=identity,
        claim=None,
    )
    body = encode_message(ProcessSubmission(submission_id=submission.id, run=submission.run))
    again = Send(SUBMISSIONS_QUEUE, identity, body, priority=submission.priority)
    await _commit_move(found, step, again, if_status=MessageStatus.GONE)
    return step.submission


async def give_up(found: Found, recovery: Recovery) -> None:
    """Turn down what cannot be delivered, and say why. Raises Conflict where anybody has touched it meanwhile."""
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
