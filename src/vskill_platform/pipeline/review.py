"""A person's decision about a skill that the scan did not let pass. It is about the bytes that were scanned, and no others."""

from __future__ import annotations

from vskill_platform.domain.errors import Conflict, IllegalTransition, InvalidInput
from vskill_platform.domain.records import Submission
from vskill_platform.domain.skill import CertTier
from vskill_platform.domain.submission import SubmissionState, Trigger
from vskill_platform.pipeline.candidate import find_candidate
from vskill_platform.pipeline.publish import log_gains, prepare_publication
from vskill_platform.pipeline.runs import stepping_by_hand
from vskill_platform.stores.blocklist import find_block
from vskill_platform.stores.submissions import get_submission, moving
from vskill_platform.worker_context import current_env


async def approve_submission(identity: str, *, reason: str) -> Submission:
    """Publish what was scanned although it was flagged. Raises IllegalTransition, or Conflict where a block stands."""
    found = await get_submission(identity)
    candidate = await find_candidate(found.submission, tier=CertTier.CERTIFIED)
    if candidate is None:
        raise IllegalTransition(
            f"Submission '{identity}' has no scanned bytes that could be published. Requeue it first.", id=identity
        )
    block = await find_block(found.submission, names=candidate.names, content_digest=candidate.content_digest)
    if block is not None:
        raise Conflict(f"The blocklist stands against it by its {block.kind.value}: {block.reason}. Unblock it first.")
    publication = await prepare_publication(candidate)
    message = f"Approved: {_require(reason)} {publication.message}"
    decided = {"decided_digest": candidate.content_digest, "is_approved_by_hand": True}
    changes = {**publication.changes, **decided}
    step = stepping_by_hand(
        found.submission, SubmissionState.PUBLISHED, Trigger.REVIEW_APPROVED, message, changes=changes
    )
    await current_env("writes").writes.commit([*moving(found, step), *publication.operations])
    log_gains(publication)
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
