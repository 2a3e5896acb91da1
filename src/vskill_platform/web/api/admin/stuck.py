"""Submissions that look stuck: the list that the sweep sees, and sending them back without waiting for it."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import get, post
from litestar.params import JSONBody

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import InvalidCursor, InvalidInput
from vskill_platform.domain.recovery import MessageStatus, Recovery
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.pipeline.bulk import DONE_WORDS, FAILED_WORDS, BulkAct, doing
from vskill_platform.stores.overview import forget_stuck_figures
from vskill_platform.stores.stuck import StuckItem, StuckItems, read_stuck
from vskill_platform.web.access import needs
from vskill_platform.web.acting import act_on_each
from vskill_platform.web.api import examples
from vskill_platform.web.api.admin.moments import read_moment
from vskill_platform.web.api.admin.requests import ManyRows
from vskill_platform.web.api.admin.results import ItemOutcome, Requeued, as_requeued, sum_up_slice
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.parameters import Cursor
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.views import MAX_IDS

TAGS = ["admin"]
SLICE = 200
_ITEM = StuckItem(
    id=examples.ID,
    state=SubmissionState.RECEIVED,
    repo_url=examples.REPOSITORY,
    skill_name="pdf-forms",
    updated_at="2026-11-16T09:00:00.000Z",
    stuck_for_ms=412_000,
    recoveries=0,
    message=MessageStatus.GONE,
    message_id="msg_3f2b8c1d9e4a4f60b7a1c5d2e8f90134",
    attempts=0,
    error=None,
    next=Recovery.SEND_AGAIN,
)


class StuckRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Why, and which: ids, or everything that was stuck at a moment, from a place of that list on."""

    reason: str
    ids: Annotated[list[str], msgspec.Meta(max_length=MAX_IDS)] = []
    all_at: str = ""
    start: str = msgspec.field(default="", name="from")


@get(
    "/api/v1/admin/stuck",
    summary="List stuck submissions",
    tags=TAGS,
    opt=described(
        StuckItems(items=[_ITEM], malformed=0, cursor=None),
        errors=(InvalidCursor,),
        access=needs(Permission.SEE_PANEL),
    ),
)
async def list_stuck_submissions(cursor: Cursor = None, limit: ManyRows = 100) -> StuckItems:
    """Submissions that have not moved for five minutes, the longest first: what the sweep sees, and what it will do."""
    return await read_stuck(cursor=cursor, limit=limit)


@post(
    "/api/v1/admin/stuck/requeue",
    summary="Requeue stuck submissions",
    tags=TAGS,
    status_code=200,
    opt=described(
        as_requeued(
            sum_up_slice(
                [ItemOutcome(id=examples.ID, outcome="sent_again", detail="Its message was lost and is sent again.")],
                done=["sent_again"],
                following=None,
            )
        ),
        body=StuckRequest(reason="The worker was killed", ids=[examples.ID]),
        errors=(InvalidCursor,),
        access=needs(Permission.STEER_QUEUE),
    ),
)
async def requeue_stuck(request: PageRequest, data: JSONBody[StuckRequest]) -> Requeued:
    """Send them back now: a dead letter becomes deliverable, a lost message is sent again. What waits or is in work is left."""
    ids, following = await _select(data)
    do = doing(BulkAct.REQUEUE)
    outcomes = await act_on_each(request, "queue.requeue", ids=ids, reason=data.reason, run=do)
    forget_stuck_figures()
    items = [ItemOutcome(**item._asdict()) for item in outcomes]
    result = sum_up_slice(items, done=DONE_WORDS[BulkAct.REQUEUE], failed=FAILED_WORDS, following=following)
    return as_requeued(result)


async def _select(data: StuckRequest) -> tuple[list[str], str | None]:
    if bool(data.ids) == bool(data.all_at):
        raise InvalidInput("Say which: either ids or `allAt`, the moment of the list that was looked at.")
    if data.ids:
        return data.ids, None
    page = await read_stuck(cursor=data.start or None, limit=SLICE, before_ms=read_moment(data.all_at))
    return [item.id for item in page.items], page.cursor


STUCK_ROUTES = [list_stuck_submissions, requeue_stuck]
