"""The messages of the submissions queue as an operator sees them: each with how it stands and the submission it is about."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.records import Submission
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.queue import MAX_LINE, MessageInfo
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.submissions import get_submissions_fresh
from vskill_platform.worker_context import current_env

MOST_BODY_CHARS = 4000
_WITH_AN_END = (MessageStatus.DELAYED, MessageStatus.LEASED)


class QueuedMessage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A message and its submission. `ready_at` is when its delay or its lease ends. What is not known is null."""

    id: str
    status: MessageStatus
    attempts: int
    sent_at: str
    ready_at: str | None
    error: str | None
    is_suspect: bool
    body: str
    submission_id: str | None
    skill_name: str | None = None
    repo_url: str | None = None
    state: SubmissionState | None = None
    priority: int | None = None


class QueuedMessages(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One page of messages; `cursor` is null at the end."""

    messages: list[QueuedMessage]
    cursor: str | None


class _Named(msgspec.Struct, frozen=True, rename="camel"):
    submission_id: str | None = None


_named = msgspec.json.Decoder(_Named)


def submission_of(body: bytes) -> str | None:
    """The submission that a message is about; None for a message of another kind, or one that cannot be read."""
    try:
        return _named.decode(body).submission_id
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


async def list_messages(status: MessageStatus, *, cursor: str | None = None, limit: int = 50) -> QueuedMessages:
    """Messages of a status in the order they were sent; those that wait in the order they will be delivered, from the first."""
    queue = current_env("queue").queue
    if status is MessageStatus.WAITING:
        return QueuedMessages(messages=await _with_submissions(await _read_line(limit)), cursor=None)
    page = await queue.peek(SUBMISSIONS_QUEUE, status=status, cursor=cursor, limit=limit)
    messages = await _with_submissions(page.messages)
    return QueuedMessages(messages=messages, cursor=None if page.complete else page.cursor)


async def find_message(identity: str | None) -> QueuedMessage | None:
    """A message by its id, or None where there is none."""
    if identity is None:
        return None
    infos = await current_env("queue").queue.find([MessageId(identity)])
    return next(iter(await _with_submissions(list(infos.values()))), None)


async def _read_line(limit: int) -> list[MessageInfo]:
    queue = current_env("queue").queue
    line = await queue.line(SUBMISSIONS_QUEUE, limit=min(limit, MAX_LINE))
    infos = await queue.find([message.id for message in line])
    return [infos[message.id] for message in line if message.id in infos]


async def _with_submissions(infos: Sequence[MessageInfo]) -> list[QueuedMessage]:
    named = {info.id: submission_of(info.body) for info in infos}
    ids = list(dict.fromkeys(identity for identity in named.values() if identity))
    found = {one.id: one for one in require_readable(await get_submissions_fresh(ids))}
    return [_show(info, named[info.id], found.get(named[info.id] or "")) for info in infos]


def _show(info: MessageInfo, identity: str | None, submission: Submission | None) -> QueuedMessage:
    return QueuedMessage(
        id=info.id,
        status=info.status,
        attempts=info.attempts,
        sent_at=iso_from_ms(info.sent_ms),
        ready_at=iso_from_ms(info.ready_ms) if info.status in _WITH_AN_END else None,
        error=info.error,
        is_suspect=info.is_suspect,
        body=info.body.decode(errors="replace")[:MOST_BODY_CHARS],
        submission_id=identity,
        skill_name=None if submission is None else submission.skill_name,
        repo_url=None if submission is None else submission.repo_url,
        state=None if submission is None else submission.state,
        priority=None if submission is None else submission.priority,
    )
