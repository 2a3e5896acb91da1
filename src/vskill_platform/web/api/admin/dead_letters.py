"""Dead letters: what was given up, and removing what nobody will want delivered."""

from __future__ import annotations

from functools import partial

import msgspec
from litestar import get, post
from litestar.params import JSONBody

from vskill_platform.domain.access import Permission
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.pipeline.dropping import Dropped, drop_message
from vskill_platform.ports.queue import MessageInfo
from vskill_platform.web.access import needs
from vskill_platform.web.acting import act_on_each
from vskill_platform.web.api import examples
from vskill_platform.web.api.admin.requests import ManyRows
from vskill_platform.web.api.admin.results import BulkResult, ItemOutcome, sum_up
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.parameters import Cursor
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.views import DeadLetter, DeadLetterPage, Ids
from vskill_platform.worker_context import current_env

TAGS = ["admin"]
_ID = "msg_7d3c1b9e2f4a4c60a7b1d5e2f8a90134"
_LETTER = DeadLetter(
    id=_ID, submission_id=examples.ID, attempts=4, sent_at="2026-02-21T10:00:00.000Z", error="The git host is down."
)
_DROPPED = sum_up([ItemOutcome(id=_ID, outcome="dropped", detail="Removed.")], done=[Dropped.DROPPED])


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
    "/api/v1/admin/dead-letters/drop",
    summary="Drop messages for good",
    tags=TAGS,
    status_code=200,
    opt=described(
        _DROPPED,
        body=Ids(ids=[_ID], reason="The repository was deleted."),
        access=needs(Permission.STEER_QUEUE),
    ),
)
async def drop_dead_letters(request: PageRequest, data: JSONBody[Ids]) -> BulkResult:
    """Remove messages that nobody works on. The event log and the audit log keep the reason."""
    drop = partial(drop_message, reason=data.reason)
    outcomes = await act_on_each(request, "queue.drop", ids=data.ids, reason=data.reason, run=drop)
    items = [ItemOutcome(id=item.id, outcome=item.outcome.value, detail=item.detail) for item in outcomes]
    return sum_up(items, done=[Dropped.DROPPED], failed=[Dropped.FAILED])


def _view(info: MessageInfo) -> DeadLetter:
    return DeadLetter(
        id=info.id,
        submission_id=_submission_of(info.body),
        attempts=info.attempts,
        sent_at=iso_from_ms(info.sent_ms),
        error=info.error,
    )


class _Named(msgspec.Struct, frozen=True, rename="camel"):
    submission_id: str | None = None


def _submission_of(body: bytes) -> str | None:
    try:
        return msgspec.json.decode(body, type=_Named).submission_id
    except msgspec.MsgspecError:
        return None


DEAD_LETTER_ROUTES = [list_dead_letters, drop_dead_letters]
