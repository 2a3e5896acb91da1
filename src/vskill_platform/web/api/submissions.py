"""Submitting a repository, and looking at what became of it."""

from __future__ import annotations

from typing import Any

from litestar import Response, get, post
from litestar.params import JSONBody
from litestar.status_codes import HTTP_200_OK, HTTP_201_CREATED

from vskill_platform.domain.access import Caller, CallerKind, Scope
from vskill_platform.domain.capabilities import CapabilityChanges
from vskill_platform.domain.errors import (
    Conflict,
    InvalidRepositoryUrl,
    NotFound,
    SourceRefused,
    SourceUnreachable,
)
from vskill_platform.domain.records import Submission
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.pipeline.intake import Answer, Intake, Submitter, submit_again, submit_repository
from vskill_platform.stores.positions import find_position
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.scans import get_judgement, get_scan
from vskill_platform.stores.submissions import get_history, get_submission, get_submissions_fresh
from vskill_platform.stores.versions import get_version
from vskill_platform.web.access import caller_of
from vskill_platform.web.api import examples
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.parameters import Identity
from vskill_platform.web.opinions import opinions_on_submission
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.surface.rate_limits import SUBMISSIONS, limited
from vskill_platform.web.views import ChildView, SubmissionAnswer, SubmissionRequest, SubmissionView

TAGS = ["submissions"]
_SUBMITTING = frozenset({Scope.SUBMIT, Scope.MANAGE, Scope.ADMIN})
_ERRORS = (InvalidRepositoryUrl, SourceRefused, SourceUnreachable, Conflict)


@post(
    "/api/v1/submissions",
    summary="Submit a repository",
    tags=TAGS,
    guards=[limited(SUBMISSIONS)],
    opt=described(
        examples.SUBMISSION_ANSWER, body=examples.SUBMISSION_REQUEST, errors=_ERRORS, also=(200,), rate=SUBMISSIONS
    ),
)
async def create_submission(request: PageRequest, data: JSONBody[SubmissionRequest]) -> Response[SubmissionAnswer]:
    """Take in a repository, or one skill of it: 201 where that started something, 200 where it is known already."""
    submitter = submitter_of(caller_of(request), contact=data.email)
    return _answer(await submit_repository(data.repo_url, skill_name=data.skill_name, submitter=submitter))


@post(
    "/api/v1/submissions/{identity:str}/retry",
    summary="Submit again",
    tags=TAGS,
    guards=[limited(SUBMISSIONS)],
    opt=described(examples.SUBMISSION_ANSWER, errors=(NotFound, *_ERRORS), also=(200,), rate=SUBMISSIONS),
)
async def retry_submission(request: PageRequest, identity: Identity) -> Response[SubmissionAnswer]:
    """Submit what it is about once more: 201 where that starts a new run, 200 with how it stands where that cannot help."""
    return _answer(await submit_again(identity, submitter=submitter_of(caller_of(request))))


@get(
    "/api/v1/submissions/{identity:str}",
    summary="Show a submission",
    tags=TAGS,
    opt=described(examples.SUBMISSION_VIEW, errors=(NotFound,), is_kept=True),
)
async def show_submission(identity: Identity) -> SubmissionView:
    """How a submission stands, how it came there, and what the scan found."""
    return await view_submission(identity)


async def view_submission(identity: str) -> SubmissionView:
    """A submission with its history, its scan and its children. Raises NotFound."""
    submission = (await get_submission(identity)).submission
    scan, judged = await get_scan(submission), await get_judgement(submission)
    children = require_readable(await get_submissions_fresh(submission.children))
    return SubmissionView(
        **_summary(submission),
        repo_url=submission.repo_url,
        tree_path=submission.tree_path,
        parent_id=submission.parent_id,
        commit=submission.commit,
        content_digest=None if submission.pin is None else submission.pin.content_digest,
        created_at=submission.created_at,
        updated_at=submission.updated_at,
        timings=submission.timings,
        published_skill_name=submission.slug if submission.state is SubmissionState.PUBLISHED else None,
        history=list(require_readable(await get_history(identity))),
        scan=None if scan is None else scan.report,
        lint=None if scan is None else scan.lint,
        judgement=None if judged is None else judged.judgement,
        children=[ChildView(**_summary(child)) for child in children],
        capability_changes=await _capability_changes(submission),
        opinions=await opinions_on_submission(submission),
        position=await find_position(identity) if submission.state is SubmissionState.RECEIVED else None,
    )


async def _capability_changes(submission: Submission) -> CapabilityChanges | None:
    if submission.state is not SubmissionState.PUBLISHED or not submission.slug or not submission.version:
        return None
    version = await get_version(submission.slug, submission.version)
    return None if version is None else version.capability_changes


def _summary(submission: Submission) -> dict[str, Any]:
    return {name: getattr(submission, name) for name in ChildView.__struct_fields__}


def submitter_of(caller: Caller, *, contact: str = "") -> Submitter:
    """Who submits. A token that was not made for it submits as somebody who is not signed in."""
    is_known = caller.kind is CallerKind.SESSION or bool(caller.scopes & _SUBMITTING)
    return Submitter(account=caller.id if is_known else None, contact=contact)


def _answer(intake: Intake) -> Response[SubmissionAnswer]:
    status = HTTP_201_CREATED if intake.answer is Answer.CREATED else HTTP_200_OK
    location = f"/api/v1/submissions/{intake.submission.id}"
    return Response(view_intake(intake), status_code=status, headers={"Location": location})


def view_intake(intake: Intake) -> SubmissionAnswer:
    """What a submitter is told."""
    answer, submission = intake
    return SubmissionAnswer(
        status=answer,
        id=submission.id,
        submission_id=submission.id,
        state=submission.state,
        run=submission.run,
        repo_url=submission.repo_url,
        skill_name=submission.skill_name,
        created_at=submission.created_at,
        updated_at=submission.updated_at,
        duplicate=answer is not Answer.CREATED,
        already_verified=answer is Answer.VERIFIED,
        blocked=answer is Answer.BLOCKED,
        skill_id=submission.slug,
        reason=submission.reason,
    )
