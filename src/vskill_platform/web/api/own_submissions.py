"""What somebody has submitted: how it stands, and what can be done about it. And the addresses that they left."""

from __future__ import annotations

from litestar import delete, get, post
from litestar.params import JSONBody

from vskill_platform.accounts.ownership import require_submitter, require_withdrawer
from vskill_platform.domain.errors import (
    Conflict,
    IllegalTransition,
    InvalidRepositoryUrl,
    NotFound,
    SourceRefused,
    SourceUnreachable,
)
from vskill_platform.domain.records import Submission
from vskill_platform.domain.submission import APPROVED_STATES, CATEGORY_OF, Category, SubmissionState
from vskill_platform.pipeline.intake import submit_again
from vskill_platform.pipeline.withdrawal import withdraw_submission
from vskill_platform.stores.contacts import erase_contact, erase_contacts_of, find_contact
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.reports import reports_of
from vskill_platform.stores.submissions import get_submission
from vskill_platform.stores.submitters import submissions_of
from vskill_platform.web.access import caller_of
from vskill_platform.web.api import examples
from vskill_platform.web.api.own_views import AppealList, Erased, OwnSubmission, OwnSubmissionList
from vskill_platform.web.api.owning import owned
from vskill_platform.web.api.parameters import Identity, Limit, Offset
from vskill_platform.web.api.report_views import AppealRequest, ReportReceipt
from vskill_platform.web.api.reports import APPEALED, appeal, view_report
from vskill_platform.web.api.skill_descriptions import RECEIPT, REPORT
from vskill_platform.web.api.submissions import submitter_of, view_intake
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.pages.wording import plural
from vskill_platform.web.surface.rate_limits import REPORTS, SUBMISSIONS, limited
from vskill_platform.web.views import SubmissionAnswer

TAGS = ["account"]
_SOURCE_ERRORS = (InvalidRepositoryUrl, SourceRefused, SourceUnreachable)
_EXAMPLE = OwnSubmission(
    id=examples.SUBMISSION_ANSWER.id,
    repo_url=examples.REPOSITORY,
    skill_name="pdf-forms",
    state=SubmissionState.NEEDS_REVIEW,
    run=1,
    reason=None,
    verdict="CONCERNS",
    score=72,
    slug=None,
    version=None,
    created_at="2026-11-16T09:00:00.000Z",
    updated_at="2026-11-16T09:00:02.000Z",
    may_withdraw=True,
    may_retry=False,
    may_appeal=True,
    email="ada@example.org",
)


@get(
    "/api/v1/account/submissions",
    summary="List your submissions",
    tags=TAGS,
    opt=owned(OwnSubmissionList(submissions=[_EXAMPLE], total=1, limit=50, offset=0)),
)
async def list_own_submissions(request: PageRequest, limit: Limit = 50, offset: Offset = 0) -> OwnSubmissionList:
    """What you have submitted while signed in, the newest change first, with what you can do about it."""
    return await own_submissions(caller_of(request).id, limit=limit, offset=offset)


async def own_submissions(account: str, *, limit: int, offset: int) -> OwnSubmissionList:
    """One page of what an account has submitted."""
    found = await submissions_of(account)
    rows = [await _view(submission, account=account) for submission in found[offset : offset + limit]]
    return OwnSubmissionList(submissions=rows, total=len(found), limit=limit, offset=offset)


async def _view(submission: Submission, *, account: str) -> OwnSubmission:
    contact = await find_contact(submission.id)
    category = CATEGORY_OF[submission.state]
    is_in_work = category in (Category.ACTIVE, Category.REVIEW) and submission.state not in APPROVED_STATES
    return OwnSubmission(
        id=submission.id,
        repo_url=submission.repo_url,
        skill_name=submission.skill_name,
        state=submission.state,
        run=submission.run,
        reason=submission.reason,
        verdict=None if submission.verdict is None else submission.verdict.value,
        score=submission.score,
        slug=submission.slug,
        version=submission.version,
        created_at=submission.created_at,
        updated_at=submission.updated_at,
        may_withdraw=is_in_work and submission.submitted_by == account,
        may_retry=category not in (Category.ACTIVE, Category.REVIEW, Category.BLOCKED),
        may_appeal=category in APPEALED,
        email=contact.address if contact is not None and contact.account == account else None,
    )


@post(
    "/api/v1/account/submissions/{identity:str}/withdraw",
    status_code=200,
    summary="Withdraw a submission",
    tags=TAGS,
    opt=owned(_EXAMPLE, errors=(NotFound, Conflict, IllegalTransition)),
)
async def withdraw_own_submission(request: PageRequest, identity: Identity) -> OwnSubmission:
    """Take back what is in work or waits for a person: for whoever started the run, and for the repository's publisher."""
    caller = caller_of(request)
    is_publisher = await require_withdrawer(caller, (await get_submission(identity)).submission)
    return await _view(await withdraw_submission(identity, is_publisher=is_publisher), account=caller.id)


@post(
    "/api/v1/account/submissions/{identity:str}/retry",
    status_code=200,
    summary="Submit yours again",
    tags=TAGS,
    guards=[limited(SUBMISSIONS)],
    opt=owned(examples.SUBMISSION_ANSWER, errors=(NotFound, Conflict, *_SOURCE_ERRORS), rate=SUBMISSIONS),
)
async def retry_own_submission(request: PageRequest, identity: Identity) -> SubmissionAnswer:
    """Submit once more what you have submitted, or what a repository of your publisher is about."""
    caller = caller_of(request)
    await require_submitter(caller, (await get_submission(identity)).submission)
    return view_intake(await submit_again(identity, submitter=submitter_of(caller)))


@post(
    "/api/v1/account/submissions/{identity:str}/appeals",
    summary="Appeal a decision as yourself",
    tags=TAGS,
    guards=[limited(REPORTS)],
    opt=owned(
        RECEIPT,
        body=AppealRequest(text="The host it reaches is our own."),
        errors=(NotFound, IllegalTransition),
        rate=REPORTS,
    ),
)
async def appeal_own_decision(request: PageRequest, identity: Identity, data: JSONBody[AppealRequest]) -> ReportReceipt:
    """Say why the decision about your submission is wrong. It is kept with your account."""
    caller = caller_of(request)
    await require_submitter(caller, (await get_submission(identity)).submission)
    return await appeal(identity, text=data.text, account=caller.id)


@get(
    "/api/v1/account/appeals",
    summary="List your reports and appeals",
    tags=TAGS,
    opt=owned(AppealList(appeals=[REPORT])),
)
async def list_own_appeals(request: PageRequest) -> AppealList:
    """The reports and appeals that you have made while signed in, the newest first."""
    return await own_appeals(caller_of(request).id)


async def own_appeals(account: str) -> AppealList:
    """The reports and appeals of an account."""
    found = sorted(require_readable(await reports_of(account)), key=lambda one: one.created_at, reverse=True)
    return AppealList(appeals=[view_report(report) for report in found])


@delete(
    "/api/v1/account/contact",
    status_code=200,
    summary="Erase every address you have left",
    tags=TAGS,
    opt=owned(Erased(erased=2, detail="Your address is erased from 2 submissions.")),
)
async def erase_own_contacts(request: PageRequest) -> Erased:
    """Erase the e-mail addresses that you have left with submissions. The one of your account is set there."""
    count = await erase_contacts_of(caller_of(request).id)
    return Erased(erased=count, detail=f"Your address is erased from {plural(count, 'submission')}.")


@delete(
    "/api/v1/account/contact/{identity:str}",
    status_code=200,
    summary="Erase the address you have left with a submission",
    tags=TAGS,
    opt=owned(Erased(erased=1, detail="The address is erased."), errors=(NotFound,)),
)
async def erase_own_contact(request: PageRequest, identity: Identity) -> Erased:
    """Erase the e-mail address that you have left with one submission."""
    await erase_contact(identity, account=caller_of(request).id)
    return Erased(erased=1, detail="The address is erased.")


OWN_SUBMISSION_ROUTES = [
    list_own_submissions,
    withdraw_own_submission,
    retry_own_submission,
    appeal_own_decision,
    list_own_appeals,
    erase_own_contacts,
    erase_own_contact,
]
