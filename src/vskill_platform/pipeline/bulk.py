"""What is done to many submissions at once, one by one: one that cannot be touched holds up no other, and each is told of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from vskill_platform.domain.errors import Conflict, IllegalTransition, NotFound, VskillError
from vskill_platform.domain.submission import CATEGORY_OF, Category, SubmissionState
from vskill_platform.pipeline.dequeue import dequeue_submission
from vskill_platform.pipeline.priority import reprioritise_submission
from vskill_platform.pipeline.requeue import Requeued, requeue
from vskill_platform.pipeline.rescan import rescan_skill, rescan_submission
from vskill_platform.stores.submissions import SubmissionRow, find_submission

_DEQUEUED = frozenset(
    {
        SubmissionState.RECEIVED,
        SubmissionState.TIER1_SCANNING,
        SubmissionState.TIER2_SCANNING,
        SubmissionState.NEEDS_REVIEW,
    }
)
_NOTHING_SHOWN: Mapping[str, str] = MappingProxyType({})
SKIPPED = "skipped"
FAILED = "failed"


class BulkAct(StrEnum):
    """What can be done with many submissions at once."""

    REQUEUE = "requeue"
    DEQUEUE = "dequeue"
    RESCAN = "rescan"
    REPRIORITISE = "reprioritise"


DONE_WORDS: dict[BulkAct, tuple[str, ...]] = {
    BulkAct.REQUEUE: (Requeued.DELIVERABLE, Requeued.NEW_RUN, Requeued.SENT_AGAIN),
    BulkAct.DEQUEUE: ("dequeued",),
    BulkAct.RESCAN: ("new_run",),
    BulkAct.REPRIORITISE: ("reprioritised",),
}
FAILED_WORDS = (FAILED, Requeued.REFUSED, Requeued.LOST)
"""Outcomes that mean it was tried in vain. What is neither done nor failed was left alone for a reason."""


class BulkOutcome(NamedTuple):
    """What became of one of them, in a word and in a sentence."""

    id: str
    outcome: str
    detail: str


Do = Callable[[str], Awaitable[BulkOutcome]]


def can_touch(act: BulkAct, row: SubmissionRow) -> bool:
    """Whether the act has something to do where a submission stands so."""
    match act:
        case BulkAct.REQUEUE:
            return True
        case BulkAct.DEQUEUE:
            return row.state in _DEQUEUED
        case BulkAct.RESCAN:
            return row.slug is not None and CATEGORY_OF[row.state] is not Category.ACTIVE
        case BulkAct.REPRIORITISE:
            return CATEGORY_OF[row.state] is Category.ACTIVE


def doing(act: BulkAct, *, shown: Mapping[str, str] = _NOTHING_SHOWN, reason: str = "", priority: int = 0) -> Do:
    """What does it to one submission and raises nothing of ours.

    `shown` has when each had last changed when somebody looked: who has moved since is left alone.
    """
    do = _acts(reason=reason, priority=priority)[act]

    async def run(identity: str) -> BulkOutcome:
        try:
            if identity in shown and await _has_moved(identity, since=shown[identity]):
                return BulkOutcome(identity, SKIPPED, "It has moved since it was shown.")
            return await do(identity)
        except (Conflict, IllegalTransition, NotFound) as error:
            return BulkOutcome(identity, SKIPPED, error.message)
        except VskillError as error:
            return BulkOutcome(identity, FAILED, error.message)

    return run


def _acts(*, reason: str, priority: int) -> dict[BulkAct, Do]:
    async def dequeue(identity: str) -> BulkOutcome:
        await dequeue_submission(identity, reason=reason)
        return BulkOutcome(identity, "dequeued", "Taken out.")

    async def reprioritise(identity: str) -> BulkOutcome:
        await reprioritise_submission(identity, priority=priority)
        return BulkOutcome(identity, "reprioritised", f"Its priority is {priority}.")

    return {
        BulkAct.REQUEUE: _requeue,
        BulkAct.DEQUEUE: dequeue,
        BulkAct.RESCAN: _rescan,
        BulkAct.REPRIORITISE: reprioritise,
    }


async def _requeue(identity: str) -> BulkOutcome:
    came_to = await requeue(identity)
    return BulkOutcome(identity, came_to.outcome.value, came_to.detail)


async def _rescan(identity: str) -> BulkOutcome:
    rescan = rescan_submission if identity.startswith("sub_") else rescan_skill
    try:
        submission = await rescan(identity)
    except VskillError as error:
        return BulkOutcome(identity, "refused", error.message)
    return BulkOutcome(identity, "new_run", f"Run {submission.run} of {submission.id} has started.")


async def _has_moved(identity: str, *, since: str) -> bool:
    found = await find_submission(identity)
    return found is None or found.submission.updated_at != since
