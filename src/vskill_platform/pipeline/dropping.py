"""Removing messages by hand: for letters that nobody will ever want delivered. The event log keeps the reason."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from vskill_platform.domain.errors import Conflict, IllegalTransition, VskillError
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.submission import DELIVERABLE_STATES
from vskill_platform.pipeline.dequeue import dequeue_submission
from vskill_platform.ports.commit import DropMessage
from vskill_platform.stores.messages import submission_of
from vskill_platform.stores.submissions import find_submission
from vskill_platform.worker_context import current_env


class Dropped(StrEnum):
    """What the wish to drop came to."""

    DROPPED = "dropped"
    KEPT = "kept"
    FAILED = "failed"


class DropOutcome(NamedTuple):
    """What became of one wish to drop, in a word and in a sentence."""

    id: str
    outcome: Dropped
    detail: str


async def drop_message(identity: str, *, reason: str) -> DropOutcome:
    """Remove a message unless somebody works on it or it is gone already."""
    try:
        await current_env("writes").writes.commit([DropMessage(MessageId(identity), reason)])
    except Conflict as error:
        return DropOutcome(identity, Dropped.KEPT, error.message)
    except VskillError as error:
        return DropOutcome(identity, Dropped.FAILED, error.message)
    return DropOutcome(identity, Dropped.DROPPED, "Removed.")


async def drop_letter(identity: str, *, reason: str) -> DropOutcome:
    """Remove a message for good. A submission that still waits for it is taken out with it, or the sweep would send it again."""
    try:
        waiting = await _waiting_for(MessageId(identity))
        if waiting is None:
            return await drop_message(identity, reason=reason)
        await dequeue_submission(waiting, reason=reason)
    except (Conflict, IllegalTransition) as error:
        return DropOutcome(identity, Dropped.KEPT, error.message)
    except VskillError as error:
        return DropOutcome(identity, Dropped.FAILED, error.message)
    return DropOutcome(identity, Dropped.DROPPED, f"Removed, and {waiting} is taken out.")


async def _waiting_for(message_id: MessageId) -> str | None:
    """The submission that would be sent again if this message were gone, or None."""
    info = (await current_env("queue").queue.find([message_id])).get(message_id)
    identity = None if info is None else submission_of(info.body)
    found = None if identity is None else await find_submission(identity)
    if found is None or found.submission.message_id != message_id:
        return None
    return identity if found.submission.state in DELIVERABLE_STATES else None
