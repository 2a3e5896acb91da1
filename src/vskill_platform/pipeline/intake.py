"""The door: a repository's address comes in, and there is one submission for it, however often it comes.

A submission exists once for each repository and each skill in it: the claim key makes sure, not a look beforehand. Coming
again starts a new run of the same submission where that can change anything, and otherwise says how it stands.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

import structlog

from vskill_platform.domain.account import check_email
from vskill_platform.domain.errors import Conflict, InvalidInput, SourceRefused, SourceUnreachable
from vskill_platform.domain.ids import claim_key
from vskill_platform.domain.records import Submission
from vskill_platform.domain.repository import RepositoryAddress, normalise_repository_url
from vskill_platform.domain.slug import is_pushed
from vskill_platform.domain.submission import (
    CATEGORY_OF,
    WITHDRAWN_BY_PUBLISHER,
    Actor,
    Category,
    SubmissionState,
    Trigger,
)
from vskill_platform.pipeline.default_branch import require_default_branch
from vskill_platform.pipeline.runs import starting_first_run, starting_next_run
from vskill_platform.ports.commit import Operation
from vskill_platform.stores.blocklist import find_block
from vskill_platform.stores.contacts import keeping_contact
from vskill_platform.stores.publishers import owner_of_repository
from vskill_platform.stores.reads import require_complete
from vskill_platform.stores.submissions import Found, find_submission, get_submission, get_submissions_fresh
from vskill_platform.worker_context import current_env

MAX_NAME_CHARS = 128
_TRIES = 5
_log = structlog.get_logger(__name__)


class Answer(StrEnum):
    """What became of a wish to submit."""

    CREATED = "created"
    PENDING = "pending"
    VERIFIED = "verified"
    BLOCKED = "blocked"
    REJECTED = "rejected"


class Intake(NamedTuple):
    """The answer, and the submission it is about."""

    answer: Answer
    submission: Submission


class Submitter(NamedTuple):
    """Who submits: an account where somebody is signed in, and the e-mail address that they leave, if they do."""

    account: str | None = None
    contact: str = ""
    actor: Actor = Actor.SUBMITTER

    def __repr__(self) -> str:
        """Without the address, which no log may have."""
        return f"Submitter(account={self.account!r}, actor={self.actor!r})"

    def leaving_contact(self, submission: Submission) -> list[Operation]:
        """The operation that keeps the address with a submission; none where none was left."""
        return [keeping_contact(submission.id, self.contact, account=self.account)] if self.contact else []


_ANYBODY = Submitter()


async def submit_repository(url: str, *, skill_name: str = "", submitter: Submitter = _ANYBODY) -> Intake:
    """Take in a repository, or one skill of it. Raises InvalidRepositoryUrl, or InvalidInput for a name no skill has."""
    address = normalise_repository_url(url)
    _check_name(skill_name)
    return await _take_in(address, skill_name, submitter)


async def _take_in(address: RepositoryAddress, skill_name: str, submitter: Submitter) -> Intake:
    submitter = submitter._replace(contact=check_email(submitter.contact) or "")
    for _ in range(_TRIES):
        found = await find_claimed(address, skill_name)
        try:
            if found is None:
                return await _create(address, skill_name, submitter)
            return await _come_again(found, address, submitter)
        except Conflict:
            continue
    raise Conflict(f"Others are submitting {address.url} at this moment. Try again.", url=address.url)


async def submit_again(identity: str, *, submitter: Submitter = _ANYBODY) -> Intake:
    """Take in once more what a submission is about, as it is now (or as it was pushed). Raises NotFound."""
    submission = (await get_submission(identity)).submission
    if is_pushed(submission.repo_url):
        return await _take_in(RepositoryAddress(submission.repo_url), submission.skill_name, submitter)
    tree = f"/tree/{submission.tree_path}" if submission.tree_path else ""
    return await submit_repository(submission.repo_url + tree, skill_name=submission.skill_name, submitter=submitter)


def _check_name(name: str) -> None:
    if len(name) > MAX_NAME_CHARS or "/" in name or not (name.isprintable() or not name):
        raise InvalidInput(
            f"A skill's name has at most {MAX_NAME_CHARS} printable characters and no slash. Give the name of its folder.",
            name=name[:MAX_NAME_CHARS],
        )


async def find_claimed(address: RepositoryAddress, skill_name: str = "") -> Found | None:
    """The submission that there is for an address, or for one skill of it; None where nobody has submitted it."""
    name = skill_name or (f"/{address.tree_path}" if address.tree_path else "")
    entry = await current_env("kv").kv.get(claim_key(address.url, name))
    return None if entry is None else await find_submission(entry.value.decode())


async def _create(address: RepositoryAddress, skill_name: str, submitter: Submitter) -> Intake:
    submission, operations = starting_first_run(
        address.url,
        skill_name=skill_name,
        actor=submitter.actor,
        tree_path=address.tree_path,
        submitted_by=submitter.account,
    )
    await current_env("writes").writes.commit([*operations, *submitter.leaving_contact(submission)])
    _log.info("submission_received", submission=submission.id, repo_url=submission.repo_url)
    return Intake(Answer.CREATED, submission)


async def _come_again(found: Found, address: RepositoryAddress, submitter: Submitter) -> Intake:
    submission = found.submission
    if await find_block(submission) is not None:
        return Intake(Answer.BLOCKED, submission)
    if submission.is_taken_back and not await _is_publisher(submitter, submission):
        return Intake(Answer.REJECTED, submission)
    if CATEGORY_OF[submission.state] is Category.ACTIVE:
        return Intake(Answer.PENDING, submission)
    if address.tree_path and not submission.is_repository:
        await require_default_branch(submission.repo_url, address.tree_path)
    answer = None if submission.is_taken_back else await _answer_unless_changed(submission)
    if answer is Answer.BLOCKED and not await _is_blocked_for_its_bytes(submission):
        answer = None
    if answer is not None and not await _has_changed(submission):
        return Intake(answer, submission)
    submission, operations = starting_next_run(
        found,
        trigger=Trigger.RESUBMITTED,
        actor=submitter.actor,
        message="Submitted again.",
        tree_path=address.tree_path,
        submitted_by=submitter.account,
        **_spelling(submission, address),
    )
    await current_env("writes").writes.commit([*operations, *submitter.leaving_contact(submission)])
    _log.info("submission_resubmitted", submission=submission.id, run=submission.run)
    return Intake(Answer.CREATED, submission)


async def _is_publisher(submitter: Submitter, submission: Submission) -> bool:
    owner = await owner_of_repository(submission.repo_url)
    return owner is not None and submitter.account is not None and owner.role_of(submitter.account) is not None


async def _is_blocked_for_its_bytes(submission: Submission) -> bool:
    return submission.pin is not None and (
        await find_block(submission, content_digest=submission.pin.content_digest) is not None
    )


def _spelling(submission: Submission, address: RepositoryAddress) -> dict[str, Any]:
    """The address as it was given last: the first one to come may have had it in a case or protocol that does not work.

    What has been published keeps the one that worked.
    """
    return {} if submission.slug is not None else {"repo_url": address.url}


async def _answer_unless_changed(submission: Submission) -> Answer | None:
    """What to answer while the repository is as it was; None where a new run makes sense in any case.

    A repository that was expanded stands as its skills do: one that was turned down is a reason to try again.
    """
    if submission.state is not SubmissionState.EXPANDED:
        return _standing(submission)
    children = require_complete(await get_submissions_fresh(submission.children))
    answers = {_standing(child) for child in children}
    for answer in (None, Answer.PENDING, Answer.BLOCKED, Answer.REJECTED):
        if answer in answers:
            return answer
    return Answer.VERIFIED


def _standing(submission: Submission) -> Answer | None:
    """How a submission stands, as an answer; None if it was turned down and may be tried again."""
    match CATEGORY_OF[submission.state]:
        case Category.PUBLISHED:
            return Answer.VERIFIED
        case Category.REVIEW | Category.ACTIVE:
            return Answer.PENDING
        case Category.BLOCKED:
            return Answer.BLOCKED
        case Category.REJECTED:
            is_final = submission.reason in (Trigger.REVIEW_REJECTED, WITHDRAWN_BY_PUBLISHER)
            return Answer.REJECTED if is_final else None


async def _has_changed(submission: Submission) -> bool:
    """Whether the default branch has another newest commit. One that cannot be asked counts as it was."""
    if is_pushed(submission.repo_url):
        return False
    try:
        newest = await current_env("source").source.newest_commit(submission.repo_url)
    except (SourceRefused, SourceUnreachable) as error:
        _log.info("source_not_compared", submission=submission.id, code=error.code)
        return False
    return newest != submission.commit
