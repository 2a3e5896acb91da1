"""The review desk: a person decides about what the scan left open."""

from __future__ import annotations

from litestar import post
from litestar.params import JSONBody

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import Conflict, IllegalTransition, NotFound, SecondReviewerNeeded
from vskill_platform.domain.review import Reviewer
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.pipeline.review import approve_submission, reject_submission
from vskill_platform.web.access import caller_of, needs
from vskill_platform.web.acting import act
from vskill_platform.web.api import examples
from vskill_platform.web.api.admin.results import ItemOutcome
from vskill_platform.web.api.describing import described
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.views import Decide

TAGS = ["admin"]
_APPROVED = ItemOutcome(id=examples.ID, outcome="published", detail="Published as acme/skills/pdf-forms 1.0.0.")
_REJECTED = ItemOutcome(id=examples.ID, outcome="rejected", detail="It reads keys that it does not need.")


@post(
    "/api/v1/admin/review/approve",
    summary="Publish what waits for a person",
    tags=TAGS,
    status_code=200,
    opt=described(
        _APPROVED,
        body=Decide(id=examples.ID, reason="The finding quotes a warning."),
        errors=(NotFound, IllegalTransition, SecondReviewerNeeded, Conflict),
        access=needs(Permission.REVIEW),
    ),
)
async def approve(request: PageRequest, data: JSONBody[Decide]) -> ItemOutcome:
    """Publish the bytes that were scanned, although the scan flagged them.

    What has a critical finding takes two people: the first approval is kept (`outcome` is `first_approval`), and another
    reviewer's publishes.
    """
    caller = caller_of(request)
    submission = await act(
        request,
        "review.approve",
        subject=data.id,
        reason=data.reason,
        run=lambda: approve_submission(data.id, reason=data.reason, reviewer=Reviewer(caller.id, caller.name)),
    )
    if submission.state is SubmissionState.NEEDS_REVIEW:
        detail = "Your approval is kept. It has a critical finding, so another reviewer has to approve it too."
        return ItemOutcome(id=submission.id, outcome="first_approval", detail=detail)
    detail = f"Published as {submission.slug} {submission.version}."
    return ItemOutcome(id=submission.id, outcome="published", detail=detail)


@post(
    "/api/v1/admin/review/reject",
    summary="Turn down what waits for a person",
    tags=TAGS,
    status_code=200,
    opt=described(
        _REJECTED,
        body=Decide(id=examples.ID, reason=_REJECTED.detail),
        errors=(NotFound, IllegalTransition),
        access=needs(Permission.REVIEW),
    ),
)
async def reject(request: PageRequest, data: JSONBody[Decide]) -> ItemOutcome:
    """Turn it down. It stays turned down until its source changes."""
    submission = await act(
        request,
        "review.reject",
        subject=data.id,
        reason=data.reason,
        run=lambda: reject_submission(data.id, reason=data.reason),
    )
    return ItemOutcome(id=submission.id, outcome="rejected", detail=f"Rejected: {data.reason}")


REVIEW_ROUTES = [approve, reject]
