"""Removing messages by hand: for letters that nobody will ever want delivered. The event log keeps the reason."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from vskill_platform.domain.errors import Conflict, VskillError
from vskill_platform.domain.ids import MessageId
from vskill_platform.ports.commit import DropMessage
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
