"""Under which handle somebody may push skills, without a repository that shows whose it is.

Members of a publisher may push under its handle. Somebody who is a member of none gets a handle that is free by pushing
under it: nobody has claimed it, nothing is or was published under it, and no other account signs in by that name.
"""

from __future__ import annotations

from vskill_platform.domain.errors import InvalidInput, NotAllowed
from vskill_platform.domain.ids import withdrawn_key
from vskill_platform.domain.publisher import PublisherKind
from vskill_platform.domain.slug import slugify
from vskill_platform.ports.commit import Operation
from vskill_platform.stores.accounts import find_account
from vskill_platform.stores.publishers import find_publisher, make_publisher, publishers_of, putting_publisher
from vskill_platform.stores.skills import SkillQuery, search_skills
from vskill_platform.worker_context import current_env


async def claiming_handle(handle: str, *, account: str) -> list[Operation]:
    """The operations by which an account may push under a handle: none for a member of its publisher.

    Raises InvalidInput for what is no handle, or NotAllowed for one that is not the account's to push under.
    """
    if not handle or slugify(handle) != handle:
        raise InvalidInput(
            f"'{handle[:100]}' is no handle. Handles have lower case letters a-z, digits and single dashes between them.",
            handle=handle[:100],
        )
    found = await find_publisher(handle)
    if found is not None:
        if found.publisher.role_of(account) is None:
            raise _not_yours(handle, "Its owners can invite you.")
        return []
    own = await handles_of(account)
    if own:
        raise _not_yours(handle, f"Push as {' or '.join(own)}, or claim it by a repository.")
    if not await _is_free(handle, account):
        raise _not_yours(handle, "It stands for somebody else here. Claim it by a repository, or push under another.")
    return putting_publisher(make_publisher(handle, kind=PublisherKind.PERSON, owner=account), found=None)


async def handles_of(account: str) -> list[str]:
    """The handles of the publishers that an account is a member of, in their order."""
    return [one.handle for one in await publishers_of(account) if one.role_of(account) is not None]


async def _is_free(handle: str, account: str) -> bool:
    named = await find_account(handle)
    if named is not None and named.id != account:
        return False
    withdrawn = await current_env("kv").kv.list(withdrawn_key(f"{handle}/"), limit=1)
    published = await search_skills(SkillQuery(publisher=(handle,), limit=1))
    return not withdrawn.keys and published.total == 0


def _not_yours(handle: str, advice: str) -> NotAllowed:
    return NotAllowed(f"'{handle}' is not a publisher of yours. {advice}", handle=handle)
