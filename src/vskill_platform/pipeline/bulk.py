"""The same act on many submissions, each by itself: one that cannot be touched holds up no other, and every one is told of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

from vskill_platform.domain.errors import Conflict, IllegalTransition, NotFound, VskillError
from vskill_platform.domain.submission import CATEGORY_OF, Category, SubmissionState
from vskill_platform.pipeline.dequeue import dequeue_submission
from vskill_platform.pipeline.priority import reprioritise_submission
from vskill_platform.pipeline.requeue import Requeued, requeue
from vskill_platform.pipeline.rescan import rescan_submission
from vskill_platform.stores.selections import Selected
from vskill_platform.stores.submissions import SubmissionRow, find_submission

_DEQUEUED = frozenset(
    {
        SubmissionState.RECEIVED,
        SubmissionState.TIER1_SCANNING,
        SubmissionState.TIER2_SCANNING,
        SubmissionState.NEEDS_REVIEW,
    }
)
_REQUEUED = frozenset({Requeued.DELIVERABLE, Requeued.NEW_RUN, Requeued.SENT_AGAIN})
SKIPPED = "skipped"
FAILED = "failed"


class BulkAct(StrEnum):
    """What can be done with many submissions at once."""

    REQUEUE = "requeue"
    DEQUEUE = "dequeue"
    RESCAN = "rescan"
    REPRIORITISE = "reprioritise"

    @property
    def done_word(self) -> str:
        """What it has been, where it was done: requeued."""
        return self.value + ("d" if self.value.endswith("e") else "ned")


class BulkOutcome(NamedTuple):
    """What became of one of them, in a word and in a sentence."""

    id: str
    outcome: str
    detail: str


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


async def act_on_each(
    act: BulkAct, selected: Sequence[Selected], *, reason: str = "", priority: int = 0
) -> list[BulkOutcome]:
    """Do it to each, in their order. Who has moved since it was shown is left alone."""
    do = _doing(act, reason=reason, priority=priority)
    return [await _act_on(act, item, do) for item in selected]


Do = Callable[[str], Awaitable[BulkOutcome]]


def _doing(act: BulkAct, *, reason: str, priority: int) -> Do:
    async def dequeue(identity: str) -> BulkOutcome:
        await dequeue_submission(identity, reason=reason)
        return BulkOutcome(identity, act.done_word, "Taken out.")

    async def rescan(identity: str) -> BulkOutcome:
        submission = await rescan_submission(identity)
        return BulkOutcome(identity, act.done_word, f"Run {submission.run} has started.")

    async def reprioritise(identity: str) -> BulkOutcome:
        await reprioritise_submission(identity, priority=priority)
        return BulkOutcome(identity, act.done_word, f"Its priority is {priority}.")

    return {
        BulkAct.REQUEUE: requeue_one,
        BulkAct.DEQUEUE: dequeue,
        BulkAct.RESCAN: rescan,
        BulkAct.REPRIORITISE: reprioritise,
    }[act]


async def requeue_one(identity: str) -> BulkOutcome:
    """Send a submission or a message back, told in the words of acts on many."""
    came_to = await requeue(identity)
    if came_to.outcome in _REQUEUED:
        return BulkOutcome(identity, BulkAct.REQUEUE.done_word, came_to.detail)
    return BulkOutcome(identity, FAILED if came_to.outcome is Requeued.REFUSED else SKIPPED, came_to.detail)


async def _act_on(act: BulkAct, item: Selected, do: Do) -> BulkOutcome:
    try:
        if item.changed_at and await _has_moved(item):
            return BulkOutcome(item.id, SKIPPED, "It has moved since it was shown.")
        return await do(item.id)
    except (Conflict, IllegalTransition, NotFound) as error:
        return BulkOutcome(item.id, SKIPPED, error.message)
    except VskillError as error:
        return BulkOutcome(item.id, FAILED, error.message)


async def _has_moved(item: Selected) -> bool:
    found = await find_submission(item.id)
    return found is None or found.submission.updated_at != item.changed_at
