"""What happens to a submission once its message is delivered: claim, decide, and settle in one commit.

As long as no scanner is installed, nothing has looked at the skill, and what nobody has looked at is not published: it
waits for a person.
"""

from __future__ import annotations

from vskill_platform.domain.errors import UnknownMessageKind
from vskill_platform.domain.messages import ProcessSubmission, decode_message
from vskill_platform.domain.records import advance
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.pipeline.claim import claim_submission
from vskill_platform.ports.commit import Ack
from vskill_platform.ports.queue import Message
from vskill_platform.stores.submissions import moving
from vskill_platform.worker_context import current_env

NO_SCANNER = "no_scanner"


async def process_message(message: Message) -> None:
    """Work on one message of the submissions queue. Raises MalformedMessage or UnknownMessageKind for what it is not."""
    task = decode_message(message.body)
    if not isinstance(task, ProcessSubmission):
        raise UnknownMessageKind(f"The submissions queue does not carry messages of kind '{type(task).__name__}'.")
    await process_submission(message, task)


async def process_submission(message: Message, task: ProcessSubmission) -> None:
    """Take the submission through, if this delivery gets hold of it."""
    found = await claim_submission(message, task)
    if found is None:
        return
    env = current_env("writes")
    step = advance(
        found.submission,
        SubmissionState.NEEDS_REVIEW,
        trigger=Trigger.REVIEW_NEEDED,
        actor=Actor.WORKER,
        now_ms=env.clock.now_ms(),
        message="No scanner is installed: a person has to look at it.",
        reason=NO_SCANNER,
        claim=None,
    )
    await env.writes.commit([*moving(found, step), Ack(message.lease)])
    message.mark_settled()
