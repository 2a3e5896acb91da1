"""Runs: every time that a submission is taken through anew, from its first to its last.

A run is a number in the record and in its message, so a message of an earlier run changes nothing any more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from vskill_platform.domain.errors import Conflict
from vskill_platform.domain.ids import MessageId, message_id, submission_id, submitter_key
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE, ProcessSubmission, encode_message
from vskill_platform.domain.records import Pin, Step, Submission, advance, receive_submission
from vskill_platform.domain.slug import is_pushed
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.ports.commit import Operation, Put, Send
from vskill_platform.stores.submissions import Found, creating, get_submission, moving
from vskill_platform.worker_context import current_env

_TRIES = 5


def starting_first_run(
    repo_url: str, *, skill_name: str = "", skill_path: str = "", actor: Actor, **fields: object
) -> tuple[Submission, list[Operation]]:
    """A submission that did not exist, and the operations that bring it into being, message included."""
    env = current_env("writes")
    step = receive_submission(
        submission_id(env.random_id()),
        repo_url=repo_url,
        skill_name=skill_name,
        skill_path=skill_path,
        message_id=message_id(env.random_id()),
        actor=actor,
        now_ms=env.clock.now_ms(),
        **fields,
    )
    return step.submission, [*creating(step), _sending(step.submission), *_remembering(step.submission)]


def starting_next_run(
    found: Found,
    *,
    trigger: Trigger,
    actor: Actor,
    message: str,
    pin: Pin | None = None,
    urgency: int = 0,
    **changes: object,
) -> tuple[Submission, list[Operation]]:
    """The submission in its next run, and the operations that start it. With a pin the run is about those bytes.

    What was pushed can be fetched from nowhere: without a pin the run is about the bytes of the run before.

    `urgency` is added to the submission's own priority, for this run's message alone.
    """
    env = current_env("writes")
    before = found.submission
    step: Step = advance(
        before,
        SubmissionState.RECEIVED,
        trigger=trigger,
        actor=actor,
        now_ms=env.clock.now_ms(),
        message=message,
        run=before.run + 1,
        message_id=message_id(env.random_id()),
        claim=None,
        recoveries=0,
        reason=None,
        first_approval=None,
        pin=before.pin if pin is None and is_pushed(before.repo_url) else pin,
        verdict=None,
        score=None,
        timings={},
        is_taken_back=False,
        **changes,
    )
    sending = _sending(step.submission, urgency=urgency)
    return step.submission, [*moving(found, step), sending, *_remembering(step.submission)]


def stepping_by_hand(
    submission: Submission, target: SubmissionState, trigger: Trigger, message: str, *, changes: Mapping[str, object]
) -> Step:
    """A step that a person takes with a submission. Whoever had it claimed has lost it."""
    return advance(
        submission,
        target,
        trigger=trigger,
        actor=Actor.ADMIN,
        now_ms=current_env("clock").clock.now_ms(),
        message=message,
        **{"claim": None, **changes},
    )


async def start_run_of(identity: str, start: Callable[[Found], tuple[Submission, Sequence[Operation]]]) -> Submission:
    """Read a submission and commit what `start` makes of it, again where somebody else was faster."""
    env = current_env("writes")
    for attempt in range(_TRIES):
        submission, operations = start(await get_submission(identity))
        try:
            await env.writes.commit(operations)
        except Conflict:
            if attempt == _TRIES - 1:
                raise
        else:
            return submission
    raise AssertionError("unreachable")


def _remembering(submission: Submission) -> list[Operation]:
    """The operation by which an account finds what it has submitted; none where nobody was signed in."""
    account = submission.submitted_by
    return [] if account is None else [Put(submitter_key(account, submission.id), b"{}")]


def _sending(submission: Submission, *, urgency: int = 0) -> Send:
    assert submission.message_id is not None
    body = encode_message(ProcessSubmission(submission_id=submission.id, run=submission.run))
    return Send(SUBMISSIONS_QUEUE, MessageId(submission.message_id), body, priority=submission.priority + urgency)
