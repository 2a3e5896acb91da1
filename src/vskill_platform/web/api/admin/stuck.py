"""Submissions that look stuck: the same list that the sweep sees."""

from __future__ import annotations

from litestar import get

from vskill_platform.domain.access import Permission
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.ports.queue import MessageInfo
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.submissions import StuckSubmission, get_stuck_submissions, get_submissions_fresh
from vskill_platform.web.access import needs
from vskill_platform.web.api import examples
from vskill_platform.web.api.describing import described
from vskill_platform.web.views import StuckView
from vskill_platform.worker_context import current_env

TAGS = ["admin"]
_STUCK = StuckView(
    id=examples.ID,
    state=SubmissionState.TIER1_SCANNING,
    repo_url=examples.REPOSITORY,
    skill_name="pdf-forms",
    updated_at="2026-02-21T10:00:00.000Z",
    stuck_for_ms=312_000,
    message=MessageStatus.GONE,
    attempts=0,
    error=None,
)


@get(
    "/api/v1/admin/stuck",
    summary="List stuck submissions",
    tags=TAGS,
    opt=described([_STUCK], access=needs(Permission.SEE_PANEL)),
)
async def list_stuck() -> list[StuckView]:
    """Submissions that have not moved for five minutes, the longest first, and what the queue knows of their messages."""
    stuck = require_readable(await get_stuck_submissions())
    records = {found.id: found for found in await get_submissions_fresh([item.id for item in stuck])}
    ids = {identity: MessageId(record.message_id or "") for identity, record in records.items()}
    messages = await current_env("queue").queue.find(list(ids.values()))
    return [_view(item, messages.get(ids.get(item.id, MessageId("")))) for item in stuck]


def _view(item: StuckSubmission, info: MessageInfo | None) -> StuckView:
    return StuckView(
        id=item.id,
        state=item.state,
        repo_url=item.repo_url,
        skill_name=item.skill_name,
        updated_at=item.updated_at,
        stuck_for_ms=item.stuck_for_ms,
        message=MessageStatus.GONE if info is None else info.status,
        attempts=0 if info is None else info.attempts,
        error=None if info is None else info.error,
    )


STUCK_ROUTES = [list_stuck]
