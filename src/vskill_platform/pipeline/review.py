"""A person's decision about a skill that the scan did not let pass. It is about the bytes that were scanned, and no others."""

from __future__ import annotations

from vskill_platform.domain.errors import Conflict, IllegalTransition, InvalidInput
from vskill_platform.domain.records import Submission, advance
from vskill_platform.domain.skill import CertTier
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.pipeline.judge import read_skill_md
from vskill_platform.pipeline.pinning import read_pinned
from vskill_platform.pipeline.publish import Candidate, prepare_publication
from vskill_platform.stores.blocklist import find_block
from vskill_platform.stores.scans import get_scan
from vskill_platform.stores.submissions import Found, get_submission, moving
from vskill_platform.worker_context import current_env


async def approve_submission(identity: str, *, reason: str) -> Submission:
    """Publish what was scanned although it was flagged. Raises IllegalTransition, or Conflict where a block stands."""
    found = await get_submission(identity)
    candidate = await _candidate(found)
    names, digest = [candidate.skill_md.name or ""], candidate.pinned.pin.content_digest
    block = await find_block(found.submission, names=names, content_digest=digest)
    if block is not None:
        raise Conflict(f"The blocklist stands against it by its {block.kind.value}: {block.reason}. Unblock it first.")
    publication = await prepare_publication(candidate)
    step = advance(
        found.submission,
        SubmissionState.PUBLISHED,
        trigger=Trigger.REVIEW_APPROVED,
        actor=Actor.ADMIN,
        now_ms=current_env("clock").clock.now_ms(),
        message=f"Approved: {_require(reason)} {publication.message}",
        **publication.changes,
    )
    await current_env("writes").writes.commit([*moving(found, step), *publication.operations])
    return step.submission


async def reject_submission(identity: str, *, reason: str) -> Submission:
    """Turn down what waits for a person. Coming again with the same source does not change that."""
    found = await get_submission(identity)
    step = advance(
        found.submission,
        SubmissionState.REJECTED,
        trigger=Trigger.REVIEW_REJECTED,
        actor=Actor.ADMIN,
        now_ms=current_env("clock").clock.now_ms(),
        message=f"Rejected: {_require(reason)}",
        reason=Trigger.REVIEW_REJECTED.value,
    )
    await current_env("writes").writes.commit(moving(found, step))
    return step.submission


async def _candidate(found: Found) -> Candidate:
    submission = found.submission
    scan = await get_scan(submission)
    if submission.pin is None or scan is None or scan.report.content_digest != submission.pin.content_digest:
        raise IllegalTransition(
            f"Submission '{submission.id}' has no scanned bytes that could be published. Requeue it first.",
            id=submission.id,
        )
    pinned = await read_pinned(submission.pin)
    return Candidate(submission, pinned, await read_skill_md(submission, pinned), scan.report, CertTier.CERTIFIED)


def _require(reason: str) -> str:
    if not reason.strip():
        raise InvalidInput("Say why: a decision needs a reason, which the history keeps.")
    return reason.strip()
