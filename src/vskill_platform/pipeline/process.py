"""What happens to a submission once its message is delivered, from top to bottom.

Claim it; fetch the repository; keep the skill's bytes; scan them; decide; publish or say why not. A repository with
several skills becomes one submission each. Every way out is one commit that carries the new state and the end of the
message together.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from vskill_platform.domain.errors import (
    NoSkillFound,
    SourceRefused,
    SourceUnreachable,
    UnknownMessageKind,
    UnreadableSkill,
    VskillError,
)
from vskill_platform.domain.messages import ProcessSubmission, decode_message
from vskill_platform.domain.records import Submission
from vskill_platform.domain.submission import APPROVED_STATES, SubmissionState, Trigger
from vskill_platform.ingest.escaping import printable
from vskill_platform.pipeline.claim import claim_submission
from vskill_platform.pipeline.default_branch import require_default_branch
from vskill_platform.pipeline.delivery import Delivery
from vskill_platform.pipeline.expand import expand_repository, name_folders
from vskill_platform.pipeline.judge import block_submission, judge_skill, publish_approved
from vskill_platform.pipeline.pinning import Pinned, pin_content, read_pinned
from vskill_platform.ports.queue import Message
from vskill_platform.ports.source import Snapshot
from vskill_platform.stores.blocklist import find_block
from vskill_platform.worker_context import current_env

_SHOWN_NAMES = 8
_log = structlog.get_logger(__name__)


async def process_message(message: Message) -> None:
    """Work on one message of the submissions queue. Raises MalformedMessage or UnknownMessageKind for what it is not."""
    task = decode_message(message.body)
    if not isinstance(task, ProcessSubmission):
        raise UnknownMessageKind(f"The submissions queue does not carry messages of kind '{type(task).__name__}'.")
    await process_submission(message, task)


async def process_submission(message: Message, task: ProcessSubmission) -> None:
    """Take the submission through, if this delivery gets hold of it.

    What the submitter has to mend turns it down at once. A host that does not answer is tried again with growing delays;
    the last attempt turns the submission down and says so.
    """
    found = await claim_submission(message, task)
    if found is None:
        return
    delivery = Delivery(message, found)
    try:
        await _take_through(delivery)
    except (SourceRefused, UnreadableSkill) as error:
        await _turn_down(delivery, error)
    except SourceUnreachable as error:
        if not delivery.is_last_attempt:
            raise
        await _turn_down(delivery, error)


async def _take_through(delivery: Delivery) -> None:
    submission = delivery.submission
    if submission.state in APPROVED_STATES:
        await publish_approved(delivery)
        return
    block = await find_block(submission)
    if block is not None:
        await block_submission(delivery, block)
    elif submission.pin is not None:
        await judge_skill(delivery, await read_pinned(submission.pin))
    elif submission.is_repository:
        await _expand(delivery)
    else:
        await judge_skill(delivery, await _fetch_skill(delivery))


async def _expand(delivery: Delivery) -> None:
    async with _fetching(delivery) as snapshot:
        await expand_repository(delivery, snapshot)


async def _fetch_skill(delivery: Delivery) -> Pinned:
    async with _fetching(delivery) as snapshot:
        delivery.learn(skill_path=await _locate_skill(delivery.submission, snapshot))
        content = await snapshot.read_skill(delivery.submission.skill_path)
    pinned = await pin_content(content, commit=snapshot.commit)
    delivery.lap("read")
    return pinned


@asynccontextmanager
async def _fetching(delivery: Delivery) -> AsyncIterator[Snapshot]:
    submission, source = delivery.submission, current_env("source").source
    async with source.fetch(submission.repo_url, tree_path=submission.tree_path) as snapshot:
        if submission.tree_path:
            await require_default_branch(submission.repo_url, submission.tree_path, fetched=snapshot.commit)
        delivery.lap("fetch")
        yield snapshot


async def _locate_skill(submission: Submission, snapshot: Snapshot) -> str:
    """The folder of the skill that a submission names, wherever in the repository it is now."""
    named = await name_folders(submission.repo_url, snapshot)
    by_name = {folder.name.casefold(): folder.path for folder in named}
    path = by_name.get(submission.skill_name.casefold())
    if path is None:
        names = ", ".join(sorted(printable(folder.name) for folder in named)[:_SHOWN_NAMES])
        has = f"It has {len(named)}: {names}." if named else "It has none."
        raise NoSkillFound(
            f"{submission.repo_url} has no skill '{printable(submission.skill_name)}' at {snapshot.commit[:12]}. {has}",
            commit=snapshot.commit,
        )
    return path


async def _turn_down(delivery: Delivery, error: VskillError) -> None:
    _log.info("submission_refused", submission=delivery.submission.id, code=error.code, error=error.message)
    step = delivery.step(
        SubmissionState.REJECTED,
        Trigger.SOURCE_REFUSED,
        error.message,
        changes={"reason": error.code, "commit": error.fields.get("commit", delivery.submission.commit)},
    )
    await delivery.finish(step)
