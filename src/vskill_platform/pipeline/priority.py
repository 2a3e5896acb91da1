"""Who comes first: a submission's place in the line, changed by hand.

The line is ordered by priority, then by arrival. The front is one above whoever is first now, the back one below whoever is last,
so those who are moved together keep their order among themselves.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from vskill_platform.domain.errors import Conflict, IllegalTransition, InvalidInput
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE, ProcessSubmission, decode_message
from vskill_platform.domain.records import Submission
from vskill_platform.domain.submission import CATEGORY_OF, Category
from vskill_platform.ports.commit import Reprioritise
from vskill_platform.ports.queue import WaitingMessage
from vskill_platform.stores.submissions import changing, find_submission, get_submission
from vskill_platform.worker_context import current_env

MAX_PRIORITY = 1_000_000
_TRIES = 5


class Place(StrEnum):
    """A place in the line that needs no number."""

    FRONT = "front"
    BACK = "back"


async def find_priority(wanted: Place | int) -> int:
    """The priority that a place means now; a number means itself. Raises InvalidInput for one that is out of bounds."""
    if isinstance(wanted, int):
        if abs(wanted) > MAX_PRIORITY:
            raise InvalidInput(f"A priority is -{MAX_PRIORITY:,} to {MAX_PRIORITY:,}, not {wanted:,}.")
        return wanted
    line = await current_env("queue").queue.line(SUBMISSIONS_QUEUE)
    if wanted is Place.FRONT:
        return min(max(await _priority_of(line[:1]), 0) + 1, MAX_PRIORITY)
    return max(min(await _priority_of(line[-1:]), 0) - 1, -MAX_PRIORITY)


async def _priority_of(messages: list[WaitingMessage]) -> int:
    """The priority of a message's submission; 0, which most have, where there is none to ask."""
    for message in messages:
        task = decode_message(message.body)
        found = await find_submission(task.submission_id) if isinstance(task, ProcessSubmission) else None
        if found is not None:
            return found.submission.priority
    return 0


async def reprioritise_submission(identity: str, *, priority: int) -> Submission:
    """Give a submission that waits another priority, and its message with it. Raises Conflict for one that is in work."""
    for attempt in range(_TRIES):
        try:
            return await _reprioritise(identity, priority=priority)
        except Conflict:
            if attempt == _TRIES - 1:
                raise
    raise AssertionError("unreachable")


async def _reprioritise(identity: str, *, priority: int) -> Submission:
    found = await get_submission(identity)
    submission = found.submission
    if CATEGORY_OF[submission.state] is not Category.ACTIVE or submission.message_id is None:
        raise IllegalTransition(
            f"Submission '{identity}' is {submission.state}: it does not wait in the line.", id=identity
        )
    changed = msgspec.structs.replace(submission, priority=priority)
    await current_env("writes").writes.commit(
        [changing(found, changed), Reprioritise(MessageId(submission.message_id), priority)]
    )
    return changed
