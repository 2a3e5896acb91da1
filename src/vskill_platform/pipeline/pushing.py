"""The other door: a publisher sends a skill's files and the version that they are to be, without a repository.

What is pushed takes the same way as what is fetched: one submission for each skill, its bytes pinned before the commit that
queues it, then the same scan and the same decision. A version is taken when it is published and not before, so a push
that is turned down uses up no number.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import NamedTuple

import structlog

from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.errors import Conflict, InvalidInput, InvalidVersion, PushPending, SignInRequired, SlugTaken
from vskill_platform.domain.records import Pin, Submission
from vskill_platform.domain.repository import RepositoryAddress
from vskill_platform.domain.slug import pushed_repository, pushed_skill_slug
from vskill_platform.domain.submission import CATEGORY_OF, Category, Trigger
from vskill_platform.domain.versions import read_version
from vskill_platform.ingest.limits import skill_limits
from vskill_platform.ingest.pushed import check_pushed
from vskill_platform.pipeline.intake import Answer, Intake, Submitter, find_claimed
from vskill_platform.pipeline.pinning import pin_content
from vskill_platform.pipeline.releases import refuse_taken_version
from vskill_platform.pipeline.runs import starting_first_run, starting_next_run
from vskill_platform.ports.commit import Operation
from vskill_platform.stores.blocklist import find_block
from vskill_platform.stores.pushed_handles import claiming_handle
from vskill_platform.stores.skills import alias_end, find_skill
from vskill_platform.stores.submissions import Found
from vskill_platform.stores.versions import get_versions
from vskill_platform.worker_context import current_env

MAX_NAME_CHARS = 64
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_FULL_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(?:-.+)?")
_TRIES = 5
_log = structlog.get_logger(__name__)


class _Push(NamedTuple):
    """What is pushed: by whom, as what, and the bytes, which are kept already."""

    handle: str
    name: str
    pin: Pin
    submitter: Submitter

    @property
    def slug(self) -> str:
        return pushed_skill_slug(self.handle, self.name)

    @property
    def repo_url(self) -> str:
        return pushed_repository(self.handle)


async def push_skill(
    content: SkillContent,
    *,
    handle: str,
    name: str,
    version: str,
    submitter: Submitter,
    using: Sequence[Operation] = (),
) -> Intake:
    """Take in a version of a skill. CREATED starts a run; PENDING says that this very push is in work already, VERIFIED that it
    is published, BLOCKED and REJECTED that it will not be. `using` are operations that the commit of a new run carries.

    Raises NotAllowed for a handle that is not the submitter's, InvalidInput for what no skill, name or version may be,
    VersionTaken, SlugTaken, or PushPending (with the `id` of the submission) while another push of the skill is in work.
    """
    account = _require_account(submitter)
    number = check_pushed_version(version)
    check_pushed_name(name)
    await claiming_handle(handle, account=account)
    limits = skill_limits(current_env("settings").settings)
    checked = await asyncio.to_thread(check_pushed, content, limits=limits)
    pinned = await pin_content(checked, commit="", version=number)
    push = _Push(handle, name, pinned.pin, submitter)
    for _ in range(_TRIES):
        claiming = await claiming_handle(handle, account=account)
        try:
            return await _take_in(push, [*claiming, *using])
        except Conflict:
            continue
    raise Conflict(f"Others are pushing {push.slug} at this moment. Try again.", slug=push.slug)


def check_pushed_name(name: str) -> None:
    """Raise InvalidInput for a name that no skill can be pushed under."""
    if len(name) > MAX_NAME_CHARS or not _NAME.fullmatch(name):
        raise InvalidInput(
            f"'{name[:MAX_NAME_CHARS]}' is no name for a skill. Names have up to {MAX_NAME_CHARS} lower case letters a-z, digits "
            "and single dashes between them.",
            name=name[:MAX_NAME_CHARS],
        )


def check_pushed_version(version: str) -> str:
    """The version, which must be a whole semantic one. Raises InvalidVersion."""
    number = read_version(version)
    if number is None or number != version or not _FULL_VERSION.fullmatch(version):
        raise InvalidVersion(
            f"'{version[:60]}' is no semantic version such as 1.2.3. Give three numbers, without build data.",
            version=version[:60],
        )
    return number


def _require_account(submitter: Submitter) -> str:
    if submitter.account is None:
        raise SignInRequired("Who pushes a skill must be known. Sign in, or send a token.")
    return submitter.account


async def _take_in(push: _Push, also: list[Operation]) -> Intake:
    found = await find_claimed(RepositoryAddress(push.repo_url), push.name)
    await _refuse_taken_slug(push, found)
    answer = None if found is None else await _answer_without_run(push, found.submission)
    if found is not None and answer is not None:
        return Intake(answer, found.submission)
    submission, operations = _starting(push, found)
    await current_env("writes").writes.commit([*also, *operations, *push.submitter.leaving_contact(submission)])
    _log.info("skill_pushed", submission=submission.id, run=submission.run, slug=push.slug, version=push.pin.version)
    return Intake(Answer.CREATED, submission)


def _starting(push: _Push, found: Found | None) -> tuple[Submission, list[Operation]]:
    account, actor = push.submitter.account, push.submitter.actor
    if found is None:
        return starting_first_run(push.repo_url, skill_name=push.name, actor=actor, pin=push.pin, submitted_by=account)
    return starting_next_run(
        found,
        trigger=Trigger.RESUBMITTED,
        actor=actor,
        message=f"Pushed as {push.pin.version}.",
        pin=push.pin,
        submitted_by=account,
        commit=None,
    )


async def _refuse_taken_slug(push: _Push, found: Found | None) -> None:
    """A repository that is called `registry` can have come to the same slug before."""
    own = None if found is None else found.submission
    holder = await find_skill(push.slug)
    is_held = holder is not None and (own is None or holder.skill.submission_id != own.id)
    if is_held or await alias_end(push.slug) not in (push.slug, None if own is None else own.slug):
        raise SlugTaken(f"{push.slug}: another skill has that name. Rename this one.", slugs=[push.slug])


async def _answer_without_run(push: _Push, submission: Submission) -> Answer | None:
    """What to answer where a run could change nothing; None where this push is to be taken through."""
    if await find_block(submission, content_digest=push.pin.content_digest) is not None:
        return Answer.BLOCKED
    versions = await get_versions(push.slug)
    same = refuse_taken_version(versions, push.pin.version, push.pin.content_digest)
    if same is not None and await _is_offered(push.slug):
        return Answer.VERIFIED
    is_same = submission.pin == push.pin
    match CATEGORY_OF[submission.state]:
        case Category.ACTIVE if not is_same:
            raise PushPending(
                f"{push.slug} {_pending_version(submission)} is being verified as {submission.id}. "
                "Push again when that has ended.",
                id=submission.id,
            )
        case Category.ACTIVE | Category.REVIEW if is_same:
            return Answer.PENDING
        case Category.REJECTED if is_same and submission.reason == Trigger.REVIEW_REJECTED:
            return Answer.REJECTED
        case _:
            return None


async def _is_offered(slug: str) -> bool:
    found = await find_skill(slug)
    return found is not None and not found.is_withdrawn


def _pending_version(submission: Submission) -> str:
    return submission.version or "" if submission.pin is None else submission.pin.version or submission.version or ""
