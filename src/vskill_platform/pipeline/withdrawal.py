"""Taking back: a submission that is in work by whoever started it, and a published skill by its publisher.

What a publisher takes back stays away until the publisher brings it in again, whoever else submits the same repository.
"""

from __future__ import annotations

import structlog

from vskill_platform.domain.errors import IllegalTransition, InvalidInput, NotFound
from vskill_platform.domain.records import Step, Submission, advance
from vskill_platform.domain.submission import (
    APPROVED_STATES,
    CATEGORY_OF,
    WITHDRAWN_BY_PUBLISHER,
    Actor,
    Category,
    SubmissionState,
    Trigger,
)
from vskill_platform.ports.commit import Operation
from vskill_platform.stores.fresh import commit_fresh
from vskill_platform.stores.skills import find_skill, withdrawing
from vskill_platform.stores.submissions import find_submission, get_submission, moving
from vskill_platform.worker_context import current_env

MAX_REASON_CHARS = 1000
_IN_WORK = frozenset({Category.ACTIVE, Category.REVIEW})
_log = structlog.get_logger(__name__)


async def withdraw_submission(identity: str, *, is_publisher: bool) -> Submission:
    """Take back a submission that is in work or waits for a person. What it published before stays published.

    Raises NotFound, or IllegalTransition where it has ended or is just being published.
    """

    async def prepare() -> tuple[Submission, list[Operation]]:
        found = await get_submission(identity)
        if CATEGORY_OF[found.submission.state] not in _IN_WORK:
            raise IllegalTransition(
                f"Submission '{identity}' is {found.submission.state.value}: there is nothing in work to withdraw.",
                id=identity,
            )
        step = _stepping(found.submission, "Withdrawn.", is_publisher=is_publisher)
        return step.submission, moving(found, step)

    submission = await commit_fresh(prepare)
    _log.info("submission_withdrawn", submission=identity, run=submission.run)
    return submission


async def withdraw_skill(slug: str, *, reason: str) -> None:
    """Take a published skill off the registry for its publisher. Its record and versions are kept, and its page says why.

    Raises NotFound where nothing is published under this slug, or IllegalTransition while a version is just being published.
    """
    reason = reason.strip()
    if not 1 <= len(reason) <= MAX_REASON_CHARS:
        raise InvalidInput(f"Say why, in 1 to {MAX_REASON_CHARS} characters: whoever looks for the skill is told.")

    async def prepare() -> tuple[None, list[Operation]]:
        found = await find_skill(slug)
        if found is None or found.is_withdrawn:
            raise NotFound(f"There is no skill published as '{slug}'.", slug=slug)
        stopping = await _stopping(found.skill.submission_id, reason)
        return None, [*withdrawing(found, reason=f"Withdrawn by its publisher: {reason}"), *stopping]

    await commit_fresh(prepare)
    _log.info("skill_withdrawn", slug=slug)


async def _stopping(identity: str, reason: str) -> list[Operation]:
    """The operations that end the submission which a skill comes from. One that was blocked stays so."""
    found = await find_submission(identity)
    if found is None or found.submission.state is SubmissionState.BLOCKED:
        return []
    step = _stepping(found.submission, f"Withdrawn by its publisher: {reason}", is_publisher=True)
    return moving(found, step)


def _stepping(submission: Submission, message: str, *, is_publisher: bool) -> Step:
    if submission.state in APPROVED_STATES:
        raise IllegalTransition(
            f"Submission '{submission.id}' is being published at this moment. Try again shortly.", id=submission.id
        )
    return advance(
        submission,
        SubmissionState.DEQUEUED,
        trigger=Trigger.WITHDRAWN,
        actor=Actor.SUBMITTER,
        now_ms=current_env("clock").clock.now_ms(),
        message=message,
        claim=None,
        reason=WITHDRAWN_BY_PUBLISHER if is_publisher else Trigger.WITHDRAWN.value,
        is_taken_back=is_publisher,
    )
