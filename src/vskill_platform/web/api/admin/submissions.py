"""Submissions as operators meet them: the list, and sending some through again."""

from __future__ import annotations

from typing import Annotated

from litestar import get, post
from litestar.params import JSONBody, QueryParameter

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import VskillError
from vskill_platform.pipeline.requeue import Requeued, requeue
from vskill_platform.pipeline.rescan import rescan_outdated, rescan_skill, rescan_submission
from vskill_platform.pipeline.rules import rules_in_force
from vskill_platform.stores.submissions import get_submission_index
from vskill_platform.web.access import needs
from vskill_platform.web.acting import act, act_on_each
from vskill_platform.web.api import examples
from vskill_platform.web.api.admin.requests import ManyRows, Reason
from vskill_platform.web.api.admin.results import BulkResult, ItemOutcome, sum_up
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.parameters import Offset
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.views import Ids, SubmissionPage

TAGS = ["admin"]
_RESCANS_A_CALL = 1000
_IDS = Ids(ids=[examples.ID], reason="The git host is back.")
_SLUG = "acme/skills/pdf-forms"
_REQUEUED = sum_up(
    [ItemOutcome(id=examples.ID, outcome="deliverable", detail="Its message is deliverable again.")],
    done=["deliverable"],
)
_RESCANNED = sum_up([ItemOutcome(id=_SLUG, outcome="new_run", detail=f"Run 2 of {examples.ID}.")], done=["new_run"])
Words = Annotated[str, QueryParameter(description="Words to look for.")]
StateFilter = Annotated[str | None, QueryParameter(name="state", description="A state or a category of states.")]


@get(
    "/api/v1/admin/submissions",
    summary="List submissions",
    tags=TAGS,
    opt=described(SubmissionPage(submissions=[examples.SUBMISSION_ROW], total=1), access=needs(Permission.SEE_PANEL)),
)
async def list_submissions(
    search: Words = "", state_filter: StateFilter = None, limit: ManyRows = 50, offset: Offset = 0
) -> SubmissionPage:
    """Submissions, newest change first."""
    found = await get_submission_index(state=state_filter, search=search, limit=limit, offset=offset)
    return SubmissionPage(submissions=found.rows, total=found.total)


@post(
    "/api/v1/admin/submissions/requeue",
    summary="Send submissions or messages back into the queue",
    tags=TAGS,
    status_code=200,
    opt=described(_REQUEUED, body=_IDS, access=needs(Permission.STEER_QUEUE)),
)
async def requeue_submissions(request: PageRequest, data: JSONBody[Ids]) -> BulkResult:
    """Make dead letters deliverable again, and start a new run of what has ended."""
    outcomes = await act_on_each(request, "queue.requeue", ids=data.ids, reason=data.reason, run=requeue)
    items = [ItemOutcome(id=item.id, outcome=item.outcome.value, detail=item.detail) for item in outcomes]
    return sum_up(items, done=[Requeued.DELIVERABLE, Requeued.NEW_RUN], failed=[Requeued.REFUSED, Requeued.LOST])


@post(
    "/api/v1/admin/submissions/rescan",
    summary="Scan published skills again",
    tags=TAGS,
    status_code=200,
    opt=described(_RESCANNED, body=_IDS, access=needs(Permission.STEER_QUEUE)),
)
async def rescan_submissions(request: PageRequest, data: JSONBody[Ids]) -> BulkResult:
    """Scan the published bytes again, by submission or by slug. Nothing is fetched; what fails now is withdrawn."""
    items = await act_on_each(request, "skills.rescan", ids=data.ids, reason=data.reason, run=_rescan)
    return sum_up(items, done=["new_run"], failed=["refused"])


@post(
    "/api/v1/admin/submissions/rescan-outdated",
    summary="Scan again what other rules were applied to",
    tags=TAGS,
    status_code=200,
    opt=described(_RESCANNED, body=Reason(reason="New rules."), access=needs(Permission.STEER_QUEUE)),
)
async def rescan_after_new_rules(request: PageRequest, data: JSONBody[Reason]) -> BulkResult:
    """Start a rescan of published skills that were last scanned by other rules, at most 1000 a call."""
    ruleset = (await rules_in_force()).ruleset
    started = await act(
        request,
        "skills.rescan_outdated",
        subject="skills",
        reason=data.reason,
        run=lambda: rescan_outdated(ruleset.version, limit=_RESCANS_A_CALL),
    )
    items = [
        ItemOutcome(id=one.slug or one.id, outcome="new_run", detail=f"Run {one.run} of {one.id}.") for one in started
    ]
    return sum_up(items, done=["new_run"])


async def _rescan(identity: str) -> ItemOutcome:
    rescan = rescan_submission if identity.startswith("sub_") else rescan_skill
    try:
        submission = await rescan(identity)
    except VskillError as error:
        return ItemOutcome(id=identity, outcome="refused", detail=error.message)
    return ItemOutcome(id=identity, outcome="new_run", detail=f"Run {submission.run} of {submission.id} has started.")


SUBMISSION_ROUTES = [list_submissions, requeue_submissions, rescan_submissions, rescan_after_new_rules]
