"""The messages of the queue: what is in work, what waits, and what was given up, which can be sent back or dropped."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

import msgspec
from litestar import get, post
from litestar.params import JSONBody, QueryParameter

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import InvalidCursor, InvalidInput
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.pipeline.bulk import BulkAct, requeue_one
from vskill_platform.pipeline.dropping import Dropped, drop_letter
from vskill_platform.stores.messages import QueuedMessage, QueuedMessages, list_messages
from vskill_platform.web.access import needs
from vskill_platform.web.acting import act
from vskill_platform.web.api import examples
from vskill_platform.web.api.admin.moments import read_moment
from vskill_platform.web.api.admin.results import ItemOutcome, SliceResult, sum_up_slice
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.parameters import Cursor, Limit
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.views import MAX_IDS
from vskill_platform.worker_context import current_env

TAGS = ["admin"]
SLICE = 200
MAX_BULK_BYTES = 64 * 1024
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
Status = Annotated[MessageStatus, QueryParameter(description="How the messages stand.")]


class LettersRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Why, and which: ids of messages, or every dead letter that was sent up to a moment, from a place of that list on."""

    reason: str
    ids: Annotated[list[str], msgspec.Meta(max_length=MAX_IDS)] = []
    all_at: str = ""
    start: str = msgspec.field(default="", name="from")


_BODY = LettersRequest(reason="The scanner is mended", ids=[MESSAGE_ID])


def _result(word: str, detail: str) -> SliceResult:
    outcome = ItemOutcome(id=MESSAGE_ID, outcome=word, detail=detail)
    return SliceResult(done=1, skipped=0, failed=0, total=1, outcomes=[outcome])


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


@post(
    "/api/v1/admin/dead-letters/requeue",
    summary="Send dead letters back",
    tags=TAGS,
    status_code=200,
    request_max_body_size=MAX_BULK_BYTES,
    opt=described(
        _result("requeued", "Its message is deliverable again."), body=_BODY, errors=(InvalidCursor,), access=_STEER
    ),
)
async def requeue_letters(request: PageRequest, data: JSONBody[LettersRequest]) -> SliceResult:
    """Make them deliverable again, attempts from the start. Where the submission has ended meanwhile it gets a new run."""

    async def send_back(identity: str) -> ItemOutcome:
        return ItemOutcome(**(await requeue_one(identity))._asdict())

    return await _act_on_letters(request, "letter.requeue", data, send_back, done=BulkAct.REQUEUE.done_word)


@post(
    "/api/v1/admin/dead-letters/drop",
    summary="Drop dead letters",
    tags=TAGS,
    status_code=200,
    request_max_body_size=MAX_BULK_BYTES,
    opt=described(_result("dropped", "Removed."), body=_BODY, errors=(InvalidCursor,), access=_STEER),
)
async def drop_letters(request: PageRequest, data: JSONBody[LettersRequest]) -> SliceResult:
    """Remove messages for good. A submission that still waits for its message is taken out with it."""

    async def drop(identity: str) -> ItemOutcome:
        outcome = await drop_letter(identity, reason=data.reason)
        return ItemOutcome(id=identity, outcome=outcome.outcome.value, detail=outcome.detail)

    return await _act_on_letters(request, "letter.drop", data, drop, done=Dropped.DROPPED.value)


async def _act_on_letters(
    request: PageRequest,
    name: str,
    data: LettersRequest,
    do: Callable[[str], Awaitable[ItemOutcome]],
    *,
    done: str,
) -> SliceResult:
    ids, following = await _select(data)

    async def run() -> list[ItemOutcome]:
        return [await do(identity) for identity in ids]

    subject = ids[0] if len(ids) == 1 else f"{len(ids)} messages"
    outcomes = await act(request, name, subject=subject, reason=data.reason, run=run)
    return sum_up_slice(outcomes, done=[done], following=following)


async def _select(data: LettersRequest) -> tuple[list[str], str | None]:
    if bool(data.ids) == bool(data.all_at):
        raise InvalidInput("Say which: either ids or `allAt`, the moment of the list that was looked at.")
    if data.ids:
        return list(dict.fromkeys(data.ids)), None
    until_ms = read_moment(data.all_at)
    page = await current_env("queue").queue.peek(
        SUBMISSIONS_QUEUE, status=MessageStatus.DEAD, cursor=data.start or None, limit=SLICE
    )
    ids = [str(info.id) for info in page.messages if info.sent_ms <= until_ms]
    return ids, None if page.complete else page.cursor


DEAD_LETTER_ROUTES = [list_queue_messages, requeue_letters, drop_letters]
