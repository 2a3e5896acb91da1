"""A person blocks bytes, a name or a repository, and what matches is stopped; or takes a block back, and it may try again."""

from __future__ import annotations

from collections.abc import AsyncIterator

import structlog

from vskill_platform.domain.blocklist import Block, BlockKind, block_key
from vskill_platform.domain.errors import Conflict, IllegalTransition, InvalidInput, NotFound
from vskill_platform.domain.records import Submission
from vskill_platform.domain.repository import known_repository, repository_identity
from vskill_platform.domain.slug import slugify
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.pipeline.publish import withdrawing_published
from vskill_platform.pipeline.runs import start_run_of, starting_next_run, stepping_by_hand
from vskill_platform.ports.commit import Delete, Emit
from vskill_platform.stores.blocklist import blocking, find_block, get_block
from vskill_platform.stores.reads import require_complete
from vskill_platform.stores.skills import find_skill
from vskill_platform.stores.submissions import get_submission, get_submissions_fresh, iter_submissions, moving
from vskill_platform.worker_context import current_env

_TRIES = 5
_log = structlog.get_logger(__name__)


def make_block(*, digest: str = "", skill_name: str = "", repo_url: str = "", reason: str) -> Block:
    """An entry of a person's. A digest alone, a name with or without a repository, or a repository alone."""
    if not reason.strip():
        raise InvalidInput("Say why: a block needs a reason, which everybody who meets it is told.")
    if bool(digest) == bool(skill_name or repo_url):
        raise InvalidInput("Give a digest, or a name, a repository, or both.")
    kind = BlockKind.DIGEST if digest else BlockKind.NAME if skill_name else BlockKind.REPOSITORY
    return Block(
        kind=kind,
        digest=digest,
        skill_name=skill_name,
        repo_url=known_repository(repo_url) if repo_url else "",
        reason=reason.strip(),
        actor=Actor.ADMIN,
        created_at=iso_from_ms(current_env("clock").clock.now_ms()),
    )


async def block_and_stop(block: Block) -> list[str]:
    """Put the entry on the list, then stop every submission it stands against. Gives their ids.

    The entry comes first: what is submitted or scanned meanwhile meets it there.
    """
    await current_env("writes").writes.commit(blocking(block))
    stopped = [identity async for identity in _matching(block) if await _stop(identity, block)]
    _log.warning("blocked", key=block_key(block), reason=block.reason, stopped=len(stopped))
    return stopped


async def preview_block(block: Block) -> list[Submission]:
    """What an entry would stand against, without putting it on the list."""
    matching = [identity async for identity in _matching(block)]
    return list(require_complete(await get_submissions_fresh(matching)))


async def unblock(key: str) -> list[str]:
    """Take an entry off the list and start a run of every submission that it alone had stopped. Gives their ids."""
    found = await get_block(key)
    if found is None:
        raise NotFound(f"There is no entry '{key}' on the blocklist.", key=key)
    block, version = found
    await current_env("writes").writes.commit([Delete(key, if_version=version), Emit("block.removed", key, b"{}")])
    return [identity async for identity in _matching(block) if await _release(identity)]


async def _matching(block: Block) -> AsyncIterator[str]:
    async for chunk in iter_submissions():
        for submission in chunk:
            if _matches(block, submission) or await _has_published(submission, block):
                yield submission.id


async def _has_published(submission: Submission, block: Block) -> bool:
    """Whether what a submission has published is meant, though its last run was about something else."""
    found = None if submission.slug is None else await find_skill(submission.slug)
    if found is None or found.is_withdrawn or found.skill.submission_id != submission.id:
        return False
    is_there = repository_identity(block.repo_url) in ("", repository_identity(submission.repo_url))
    is_named = bool(block.skill_name) and slugify(found.skill.name) == slugify(block.skill_name)
    return (bool(block.digest) and found.skill.content_digest == block.digest) or (is_there and is_named)


def _matches(block: Block, submission: Submission) -> bool:
    match block.kind:
        case BlockKind.DIGEST:
            return submission.pin is not None and submission.pin.content_digest == block.digest
        case BlockKind.REPOSITORY:
            return repository_identity(submission.repo_url) == repository_identity(block.repo_url)
        case BlockKind.NAME:
            there = repository_identity(block.repo_url)
            own = {slugify(submission.skill_name), (submission.slug or "").rsplit("/", 1)[-1]}
            return there in ("", repository_identity(submission.repo_url)) and slugify(block.skill_name) in own


async def _stop(identity: str, block: Block) -> bool:
    """Block one submission and take back what it had published. False where there is nothing to stop."""
    for _ in range(_TRIES):
        found = await get_submission(identity)
        try:
            step = stepping_by_hand(
                found.submission,
                SubmissionState.BLOCKED,
                Trigger.ADMIN_BLOCKED,
                f"Blocked by its {block.kind.value}: {block.reason}",
                changes={"reason": f"blocked_{block.kind.value}"},
            )
        except IllegalTransition:
            return False
        digest = block.digest or None
        operations = await withdrawing_published(found.submission, reason=block.reason, content_digest=digest)
        try:
            await current_env("writes").writes.commit([*moving(found, step), *operations])
        except Conflict:
            continue
        return True
    _log.error("not_blocked", submission=identity, detail="It changes all the time; its next step meets the blocklist.")
    return False


async def _release(identity: str) -> bool:
    submission = (await get_submission(identity)).submission
    is_kept_out = submission.is_taken_back or await find_block(submission) is not None
    if submission.state is not SubmissionState.BLOCKED or is_kept_out:
        return False
    try:
        await start_run_of(
            identity,
            lambda found: starting_next_run(
                found, trigger=Trigger.UNBLOCKED, actor=Actor.ADMIN, message="Unblocked: to be looked at again."
            ),
        )
    except (Conflict, IllegalTransition) as error:
        _log.info("not_released", submission=identity, code=error.code, detail="Somebody else has moved it.")
        return False
    return True
