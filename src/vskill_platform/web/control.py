"""What an operator steers by. Served on the control socket alone, where permission to open it is the login."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import get, post
from litestar.params import FromQuery, JSONBody, QueryParameter

from vskill_platform.domain.blocklist import block_key
from vskill_platform.domain.errors import InvalidInput, NotFound, VskillError
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.skill import SkillVersion
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.moving.catalog import CatalogSlice, rebuild_catalog_slice
from vskill_platform.pipeline.blocking import block_and_stop, make_block, unblock
from vskill_platform.pipeline.dropping import drop_message
from vskill_platform.pipeline.requeue import requeue
from vskill_platform.pipeline.rescan import rescan_outdated, rescan_skill, rescan_submission
from vskill_platform.pipeline.review import approve_submission, reject_submission
from vskill_platform.pipeline.rules import rules_in_force
from vskill_platform.stores.blocklist import list_blocks
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.skills import alias_end, find_skill, get_published_skills_list
from vskill_platform.stores.submissions import (
    get_stuck_submissions,
    get_submission_index,
    get_submissions_fresh,
)
from vskill_platform.stores.versions import get_versions
from vskill_platform.web.views import (
    Blocked,
    BlockRequest,
    BlockView,
    DeadLetter,
    DeadLetterPage,
    Decide,
    Ids,
    Outcome,
    RebuildRequest,
    SkillPage,
    SkillView,
    StuckView,
    SubmissionPage,
    Unblock,
    VersionView,
    view_block,
)
from vskill_platform.worker_context import current_env

Limit = Annotated[int, QueryParameter(ge=1, le=1000)]
StateFilter = Annotated[str | None, QueryParameter(name="state")]
Offset = Annotated[int, QueryParameter(ge=0)]


@get("/control/stuck")
async def list_stuck() -> list[StuckView]:
    """Submissions that look stuck, the longest first."""
    stuck = require_readable(await get_stuck_submissions())
    env = current_env("queue")
    records = {found.id: found for found in await get_submissions_fresh([item.id for item in stuck])}
    ids = {identity: MessageId(record.message_id or "") for identity, record in records.items()}
    messages = await env.queue.find(list(ids.values()))
    views = []
    for item in stuck:
        info = messages.get(ids.get(item.id, MessageId("")))
        views.append(
            StuckView(
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
        )
    return views


@get("/control/dead-letters")
async def list_dead_letters(cursor: FromQuery[str | None] = None, limit: Limit = 100) -> DeadLetterPage:
    """Messages that were given up, oldest first."""
    page = await current_env("queue").queue.peek(
        SUBMISSIONS_QUEUE, status=MessageStatus.DEAD, cursor=cursor, limit=limit
    )
    letters = [
        DeadLetter(
            id=info.id,
            submission_id=_submission_of(info.body),
            attempts=info.attempts,
            sent_at=iso_from_ms(info.sent_ms),
            error=info.error,
        )
        for info in page.messages
    ]
    return DeadLetterPage(messages=letters, cursor=None if page.complete else page.cursor)


class _Named(msgspec.Struct, frozen=True, rename="camel"):
    submission_id: str | None = None


def _submission_of(body: bytes) -> str | None:
    try:
        return msgspec.json.decode(body, type=_Named).submission_id
    except msgspec.MsgspecError:
        return None


@post("/control/dead-letters/drop", status_code=200)
async def drop_dead_letters(data: JSONBody[Ids]) -> list[Outcome]:
    """Remove messages for good. Needs a reason, which the event log keeps."""
    if not data.reason.strip():
        raise InvalidInput("Say why: dropping a message needs a reason.")
    outcomes = [await drop_message(identity, reason=data.reason) for identity in data.ids]
    return [Outcome(id=item.id, outcome=item.outcome.value, detail=item.detail) for item in outcomes]


@post("/control/requeue", status_code=200)
async def requeue_ids(data: JSONBody[Ids]) -> list[Outcome]:
    """Send submissions or messages back into the queue."""
    outcomes = [await requeue(identity) for identity in data.ids]
    return [Outcome(id=item.id, outcome=item.outcome.value, detail=item.detail) for item in outcomes]


@post("/control/rescan", status_code=200)
async def rescan_ids(data: JSONBody[Ids]) -> list[Outcome]:
    """Scan published skills again, by submission or by slug."""
    return [await _rescan(identity) for identity in data.ids]


@post("/control/rescan-outdated", status_code=200)
async def rescan_after_new_rules(limit: Limit = 1000) -> list[Outcome]:
    """Scan published skills again that other rules were applied to, at most so many."""
    started = await rescan_outdated((await rules_in_force()).ruleset.version, limit=limit)
    return [Outcome(id=one.slug or one.id, outcome="new_run", detail=f"Run {one.run} of {one.id}.") for one in started]


async def _rescan(identity: str) -> Outcome:
    rescan = rescan_submission if identity.startswith("sub_") else rescan_skill
    try:
        submission = await rescan(identity)
    except VskillError as error:
        return Outcome(id=identity, outcome="refused", detail=error.message)
    return Outcome(id=identity, outcome="new_run", detail=f"Run {submission.run} of {submission.id} has started.")


@post("/control/approve", status_code=200)
async def approve(data: JSONBody[Decide]) -> Outcome:
    """Publish what waits for a person."""
    submission = await approve_submission(data.id, reason=data.reason)
    return Outcome(id=submission.id, outcome="published", detail=f"{submission.slug} {submission.version}")


@post("/control/reject", status_code=200)
async def reject(data: JSONBody[Decide]) -> Outcome:
    """Turn down what waits for a person."""
    submission = await reject_submission(data.id, reason=data.reason)
    return Outcome(id=submission.id, outcome="rejected", detail=data.reason)


@get("/control/blocks")
async def list_block_entries() -> list[BlockView]:
    """The blocklist."""
    return [view_block(block, key=block_key(block)) for block in require_readable(await list_blocks())]


@post("/control/block", status_code=200)
async def add_block_entry(data: JSONBody[BlockRequest]) -> Blocked:
    """Block bytes, a name or a repository, and stop what matches."""
    block = make_block(digest=data.digest, skill_name=data.skill_name, repo_url=data.repo_url, reason=data.reason)
    return Blocked(key=block_key(block), submissions=await block_and_stop(block))


@post("/control/unblock", status_code=200)
async def remove_block_entry(data: JSONBody[Unblock]) -> Blocked:
    """Take a block back, and let what it stopped try again."""
    return Blocked(key=data.key, submissions=await unblock(data.key))


@get("/control/skills")
async def list_skills(
    search: FromQuery[str] = "", tier: FromQuery[str | None] = None, limit: Limit = 50, offset: Offset = 0
) -> SkillPage:
    """Published skills, newest change first."""
    found = await get_published_skills_list(search=search, tier=tier, limit=limit, offset=offset)
    return SkillPage(skills=found.rows, total=found.total)


@get("/control/skill")
async def show_skill(slug: FromQuery[str]) -> SkillView:
    """A skill that is or was published, by its slug or an older one, with all its versions."""
    found = await find_skill(await alias_end(slug))
    if found is None:
        raise NotFound(f"There is no skill '{slug}', and there was none.", slug=slug)
    skill = found.skill
    return SkillView(
        slug=skill.slug,
        name=skill.name,
        description=skill.description,
        repo_url=skill.repo_url,
        is_withdrawn=found.is_withdrawn,
        versions=[_view_version(version) for version in await get_versions(skill.slug)],
    )


def _view_version(version: SkillVersion) -> VersionView:
    return VersionView(**{name: getattr(version, name) for name in VersionView.__struct_fields__})


@get("/control/submissions")
async def list_submissions(
    search: FromQuery[str] = "", state_filter: StateFilter = None, limit: Limit = 50, offset: Offset = 0
) -> SubmissionPage:
    """Submissions, newest change first; `state` is a state or a category."""
    found = await get_submission_index(state=state_filter, search=search, limit=limit, offset=offset)
    return SubmissionPage(submissions=found.rows, total=found.total)


@post("/control/rebuild-catalog", status_code=200)
async def rebuild_catalog(data: JSONBody[RebuildRequest]) -> CatalogSlice:
    """Hold the next slice of the catalog against the records, and mend it unless it is a dry run."""
    return await rebuild_catalog_slice(data.cursor, is_dry_run=data.is_dry_run)


CONTROL_ROUTES = [
    list_stuck,
    list_dead_letters,
    drop_dead_letters,
    requeue_ids,
    rescan_ids,
    rescan_after_new_rules,
    approve,
    reject,
    list_block_entries,
    add_block_entry,
    remove_block_entry,
    list_skills,
    show_skill,
    list_submissions,
    rebuild_catalog,
]
