"""The messages of the queue: what is in work, what waits, and what was given up, which can be sent back or dropped."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import msgspec
from litestar import get, post
from litestar.params import JSONBody, QueryParameter

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import InvalidCursor, InvalidInput
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.pipeline.bulk import DONE_WORDS, FAILED_WORDS, BulkAct, doing
from vskill_platform.pipeline.dropping import Dropped, drop_letter
from vskill_platform.ports.queue import MessageInfo
from vskill_platform.stores.messages import QueuedMessage, QueuedMessages, list_messages, submission_of
from vskill_platform.web.access import needs
from vskill_platform.web.acting import act_on_each
from vskill_platform.web.api import examples
from vskill_platform.web.api.admin.moments import read_moment
from vskill_platform.web.api.admin.requests import ManyRows
from vskill_platform.web.api.admin.results import ItemOutcome, Requeued, SliceResult, as_requeued, sum_up_slice
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.parameters import Cursor, Limit
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.views import MAX_IDS, DeadLetter, DeadLetterPage
from vskill_platform.worker_context import current_env

TAGS = ["admin"]
SLICE = 200
MESSAGE_ID = "msg_3f2b8c1d9e4a4f60b7a1c5d2e8f90134"
_STEER = needs(Permission.STEER_QUEUE)
_MESSAGE = QueuedMessage(
    id=MESSAGE_ID,
    status=MessageStatus.DEAD,
    attempts=4,
    sent_at="2026-11-16T09:00:00.000Z",
    ready_at=None,
    error="scanner_unavailable: No scanning process could be started.",
    is_suspect=False,
    body='{"kind":"process_submission","submissionId":"' + examples.ID + '","run":1,"v":1}',
    submission_id=examples.ID,
    skill_name="pdf-forms",
    repo_url=examples.REPOSITORY,
    state=SubmissionState.TIER1_SCANNING,
    priority=0,
)
_LETTER = DeadLetter(
    id=MESSAGE_ID, submission_id=examples.ID, attempts=4, sent_at=_MESSAGE.sent_at, error=_MESSAGE.error
)
Status = Annotated[MessageStatus, QueryParameter(description="How the messages stand.")]


class LettersRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Why, and which: ids of messages, or every dead letter that was sent up to a moment, from a place of that list on."""

    reason: str
    ids: Annotated[list[str], msgspec.Meta(max_length=MAX_IDS)] = []
    all_at: str = ""
    start: str = msgspec.field(default="", name="from")


_BODY = LettersRequest(reason="The scanner is mended", ids=[MESSAGE_ID])


def _result(word: str, detail: str) -> SliceResult:
    return sum_up_slice([ItemOutcome(id=MESSAGE_ID, outcome=word, detail=detail)], done=[word], following=None)


@get(
    "/api/v1/admin/queue/messages",
    summary="List messages of the queue",
    tags=TAGS,
    opt=described(
        QueuedMessages(messages=[_MESSAGE], cursor=None), errors=(InvalidCursor,), access=needs(Permission.SEE_PANEL)
    ),
)
async def list_queue_messages(
    status: Status = MessageStatus.DEAD, cursor: Cursor = None, limit: Limit = 50
) -> QueuedMessages:
    """Messages that stand so, each with its submission. Those that wait come in the order they will be delivered."""
    return await list_messages(status, cursor=cursor, limit=limit)


@get(
    "/api/v1/admin/dead-letters",
    summary="List dead letters",
    tags=TAGS,
    opt=described(DeadLetterPage(messages=[_LETTER], cursor=None), access=needs(Permission.SEE_PANEL)),
)
async def list_dead_letters(cursor: Cursor = None, limit: ManyRows = 100) -> DeadLetterPage:
    """Messages that were given up, the oldest first."""
    page = await current_env("queue").queue.peek(
        SUBMISSIONS_QUEUE, status=MessageStatus.DEAD, cursor=cursor, limit=limit
    )
    return DeadLetterPage(messages=[_view(info) for info in page.messages], cursor=page.cursor)


@post(
    "/api/v1/admin/dead-letters/requeue",
    summary="Send dead letters back",
    tags=TAGS,
    status_code=200,
    opt=described(
        as_requeued(_result("deliverable", "Its message is deliverable again.")),
        body=_BODY,
        errors=(InvalidCursor,),
        access=_STEER,
    ),
)
async def requeue_letters(request: PageRequest, data: JSONBody[LettersRequest]) -> Requeued:
    """Make them deliverable again, attempts from the start. Where the submission has ended meanwhile it gets a new run."""
    ids, following = await _select(data)
    do = doing(BulkAct.REQUEUE)
    outcomes = await act_on_each(request, "queue.requeue", ids=ids, reason=data.reason, run=do)
    items = [ItemOutcome(**item._asdict()) for item in outcomes]
    result = sum_up_slice(items, done=DONE_WORDS[BulkAct.REQUEUE], failed=FAILED_WORDS, following=following)
    return as_requeued(result)


@post(
    "/api/v1/admin/dead-letters/drop",
    summary="Drop dead letters",
    tags=TAGS,
    status_code=200,
    opt=described(_result("dropped", "Removed."), body=_BODY, errors=(InvalidCursor,), access=_STEER),
)
async def drop_letters(request: PageRequest, data: JSONBody[LettersRequest]) -> SliceResult:
    """Remove messages for good. A submission that still waits for its message is taken out with it."""
    ids, following = await _select(data)
    drop = partial(drop_letter, reason=data.reason)
    outcomes = await act_on_each(request, "queue.drop", ids=ids, reason=data.reason, run=drop)
    items = [ItemOutcome(id=item.id, outcome=item.outcome.value, detail=item.detail) for item in outcomes]
    return sum_up_slice(items, done=[Dropped.DROPPED], failed=[Dropped.FAILED], following=following)


async def _select(data: LettersRequest) -> tuple[list[str], str | None]:
    if bool(data.ids) == bool(data.all_at):
        raise InvalidInput("Say which: either ids or `allAt`, the moment of the list that was looked at.")
    if data.ids:
        return data.ids, None
    until_ms = read_moment(data.all_at)
    page = await current_env("queue").queue.peek(
        SUBMISSIONS_QUEUE, status=MessageStatus.DEAD, cursor=data.start or None, limit=SLICE
    )
    ids = [str(info.id) for info in page.messages if info.sent_ms <= until_ms]
    return ids, None if page.complete else page.cursor


def _view(info: MessageInfo) -> DeadLetter:
    return DeadLetter(
        id=info.id,
        submission_id=submission_of(info.body),
        attempts=info.attempts,
        sent_at=iso_from_ms(info.sent_ms),
        error=info.error,
    )


DEAD_LETTER_ROUTES = [list_queue_messages, list_dead_letters, requeue_letters, drop_letters]
