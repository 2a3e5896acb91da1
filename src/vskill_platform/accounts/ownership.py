"""Whose is it: what an account may do with what is published, and with submissions."""

from __future__ import annotations

from vskill_platform.domain.access import Caller
from vskill_platform.domain.errors import NotAllowed
from vskill_platform.domain.publisher import MemberRole, Publisher
from vskill_platform.domain.records import Submission
from vskill_platform.stores.publishers import get_publisher, owner_of, owner_of_repository
from vskill_platform.stores.submitters import has_submitted


async def may_manage(caller: Caller, slug: str) -> bool:
    """Whether the caller is a member of the publisher that owns what is or was published under a slug."""
    return is_member(caller, await owner_of(slug))


async def publishes(caller: Caller, submission: Submission) -> bool:
    """Whether the caller is a member of the publisher whose repository a submission is about."""
    return is_member(caller, await owner_of_repository(submission.repo_url))


def is_member(caller: Caller, publisher: Publisher | None) -> bool:
    """Whether the caller acts for this publisher."""
    return publisher is not None and publisher.role_of(caller.id) is not None


async def require_manager(caller: Caller, slug: str) -> None:
    """Raise NotAllowed unless the caller may manage what is or was published under a slug."""
    if not await may_manage(caller, slug):
        raise NotAllowed(
            f"'{slug}' is not yours to manage. Claim its publisher, or ask the publisher's owners to invite you.",
            slug=slug,
        )


async def require_withdrawer(caller: Caller, submission: Submission) -> bool:
    """Whether the caller withdraws as the publisher. Raises NotAllowed for who is neither that nor has started the run."""
    is_publisher = await publishes(caller, submission)
    if not is_publisher and submission.submitted_by != caller.id:
        raise _not_yours(submission)
    return is_publisher


async def require_submitter(caller: Caller, submission: Submission) -> None:
    """Raise NotAllowed unless the caller has submitted this, or is of the publisher whose repository it is about."""
    if not await has_submitted(caller.id, submission.id) and not await publishes(caller, submission):
        raise _not_yours(submission)


def _not_yours(submission: Submission) -> NotAllowed:
    return NotAllowed(f"Submission '{submission.id}' is neither yours nor of a publisher of yours.", id=submission.id)


async def require_member(caller: Caller, handle: str) -> Publisher:
    """The publisher, for its members. Raises NotFound, or NotAllowed for anybody else."""
    publisher = (await get_publisher(handle)).publisher
    if not is_member(caller, publisher):
        raise NotAllowed(f"You are no member of '{handle}'.", handle=handle)
    return publisher


async def require_owner(caller: Caller, handle: str) -> Publisher:
    """The publisher, for its owners. Raises NotFound, or NotAllowed for anybody else."""
    publisher = await require_member(caller, handle)
    if publisher.role_of(caller.id) is not MemberRole.OWNER:
        raise NotAllowed(f"Only the owners of '{handle}' may do this.", handle=handle)
    return publisher
