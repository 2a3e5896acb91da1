"""A person's decision about a skill that the scan did not let pass. It is about the bytes that were scanned, and no others."""

from __future__ import annotations

from vskill_platform.domain.errors import Conflict, IllegalTransition, InvalidInput
from vskill_platform.domain.records import Approval, Submission
from vskill_platform.domain.review import OPERATOR_REVIEWER, Reviewer, is_enough
from vskill_platform.domain.skill import CertTier
from vskill_platform.domain.submission import SubmissionState, Trigger
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.pipeline.candidate import Candidate, find_candidate
from vskill_platform.pipeline.publish import log_gains, prepare_publication
from vskill_platform.pipeline.runs import stepping_by_hand
from vskill_platform.stores.blocklist import find_block
from vskill_platform.stores.submissions import Found, get_submission, moving
from vskill_platform.worker_context import current_env


async def approve_submission(identity: str, *, reason: str, reviewer: Reviewer = OPERATOR_REVIEWER) -> Submission:
    """Publish what was scanned although it was flagged; where that takes two people, keep the first one's word.

    Raises IllegalTransition, SecondReviewerNeeded for whoever has approved it already, or Conflict where a block stands.
    """
    said = _require(reason)
    found = await get_submission(identity)
    candidate = await find_candidate(found.submission, tier=CertTier.CERTIFIED)
    if candidate is None:
        raise IllegalTransition(
            f"Submission '{identity}' has no scanned bytes that could be published. Requeue it first.", id=identity
        )
    block = await find_block(found.submission, names=candidate.names, content_digest=candidate.content_digest)
    if block is not None:
        raise Conflict(f"The blocklist stands against it by its {block.kind.value}: {block.reason}. Unblock it first.")
    if is_enough(found.submission, candidate.report, reviewer):
        return await _publish(found, candidate, f"Approved: {said}")
    return await _keep_first(found, candidate, said, reviewer)


async def _publish(found: Found, candidate: Candidate, message: str) -> Submission:
    publication = await prepare_publication(candidate)
    decided = {"decided_digest": candidate.content_digest, "is_approved_by_hand": True}
    step = stepping_by_hand(
        found.submission,
        SubmissionState.PUBLISHED,
        Trigger.REVIEW_APPROVED,
        f"{message} {publication.message}",
        changes={**publication.changes, **decided},
    )
    await current_env("writes").writes.commit([*moving(found, step), *publication.operations])
    log_gains(publication)
    return step.submission


async def _keep_first(found: Found, candidate: Candidate, reason: str, reviewer: Reviewer) -> Submission:
    """Keep the first of two approvals. From then on it waits on the desk, wherever it stood before."""
    approval = Approval(
        by=reviewer.id,
        name=reviewer.name,
        at=iso_from_ms(current_env("clock").clock.now_ms()),
        reason=reason,
        content_digest=candidate.content_digest,
        run=found.submission.run,
    )
    step = stepping_by_hand(
        found.submission,
        SubmissionState.NEEDS_REVIEW,
        Trigger.FIRST_APPROVED,
        f"Approved: {reason} It has a critical finding, so a second person has to approve it too.",
        changes={"reason": "second_review", "first_approval": approval},
    )
    await current_env("writes").writes.commit(moving(found, step))
    return step.submission


async def reject_submission(identity: str, *, reason: str) -> Submission:
    """Turn down what waits for a person. Coming again with the same source does not change that."""
    found = await get_submission(identity)
    message = f"Rejected: {_require(reason)}"
    digest = None if found.submission.pin is None else found.submission.pin.content_digest
    changes: dict[str, object] = {
        "reason": Trigger.REVIEW_REJECTED.value,
        "decided_digest": digest,
        "is_approved_by_hand": False,
        "first_approval": None,
    }
    step = stepping_by_hand(
        found.submission, SubmissionState.REJECTED, Trigger.REVIEW_REJECTED, message, changes=changes
    )
    await current_env("writes").writes.commit(moving(found, step))
    return step.submission


def _require(reason: str) -> str:
    if not reason.strip():
        raise InvalidInput("Say why: a decision needs a reason, which the history keeps.")
    return reason.strip()
