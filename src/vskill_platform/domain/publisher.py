"""Publishers: who owns what is published under a handle, and who may act for them.

A handle is the first part of a slug. Different places can come to the same handle (`a/b` and `a-b` on one host), so a publisher
also has the places (host and owner) whose control was proven, and owns nothing that comes from anywhere else.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from vskill_platform.domain.errors import Conflict, InvalidInput, NotFound
from vskill_platform.domain.records import Record
from vskill_platform.domain.secrets import equal_secrets
from vskill_platform.domain.slug import pushed_repository

PUBLISHER_PREFIX = "publisher:"
CLAIM_FILE = ".vskill-claim"
"""The file at the root of the default branch whose lines may be challenges."""
MAX_CLAIM_FILE_BYTES = 16 * 1024
CLAIM_LASTS_MS = 3600 * 1000
MAX_MEMBERS = 200


class PublisherKind(StrEnum):
    """What a publisher is."""

    PERSON = "person"
    ORGANISATION = "organisation"


class MemberRole(StrEnum):
    """What a member may do: an owner also says who the members are."""

    OWNER = "owner"
    MEMBER = "member"


class Member(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An account that acts for a publisher, or is invited to."""

    account: str
    role: MemberRole
    since: str


class Publisher(Record, frozen=True, kw_only=True, rename="camel"):
    """A person or an organisation that owns skills. There is always at least one owner among the members."""

    handle: str
    kind: PublisherKind
    title: str = ""
    places: tuple[str, ...]
    members: tuple[Member, ...]
    invitations: tuple[Member, ...] = ()
    created_at: str
    updated_at: str

    def role_of(self, account: str) -> MemberRole | None:
        """What an account is here; None for one that is no member."""
        return next((member.role for member in self.members if member.account == account), None)

    def is_invited(self, account: str) -> bool:
        """Whether an account may become a member."""
        return any(invited.account == account for invited in self.invitations)

    def controls(self, repo_url: str) -> bool:
        """Whether what comes from this address is theirs: it is in a place of theirs, or was pushed under their handle."""
        return place_of(repo_url) in self.places or repo_url == pushed_repository(self.handle)

    @property
    def accounts(self) -> frozenset[str]:
        """Everybody who is a member or invited."""
        return frozenset(member.account for member in (*self.members, *self.invitations))


class ClaimChallenge(Record, frozen=True, kw_only=True, rename="camel"):
    """What an account must commit to a repository to show that it controls the repository's owner.

    The token is no secret: it will stand in a public repository, and is worth something to this account alone.
    """

    id: str
    account: str
    repo_url: str
    place: str
    handle: str
    kind: PublisherKind
    token: str
    created_at: str
    expires_at: str


def publisher_key(handle: str) -> str:
    """The key of a publisher."""
    return f"{PUBLISHER_PREFIX}{handle}"


def membership_prefix(account: str) -> str:
    """What the keys begin with that name the publishers an account has to do with."""
    return f"membership:{account}:"


def membership_key(account: str, handle: str) -> str:
    """The key that says that an account is a member of a publisher, or invited."""
    return f"{membership_prefix(account)}{handle}"


def challenge_prefix(account: str) -> str:
    """What the keys of an account's challenges begin with."""
    return f"publisher-claim:{account}:"


def challenge_key(account: str, identity: str) -> str:
    """The key of a challenge. It has the account in it, so nobody finds another's."""
    return f"{challenge_prefix(account)}{identity}"


def place_of(repo_url: str) -> str:
    """Host (with its port) and owner of a repository in its normal form. Letters keep their case: some hosts tell them apart."""
    return repo_url.split("://", 1)[-1].rpartition("/")[0]


def holds_token(content: bytes, token: str) -> bool:
    """Whether a line of the file is the token."""
    return any(equal_secrets(line.strip(), token) for line in content.decode("utf-8", "replace").splitlines())


def invite(publisher: Publisher, account: str, *, role: MemberRole, now: str) -> Publisher:
    """The publisher with one more invitation; a second one for the same account takes the place of the first."""
    if publisher.role_of(account) is not None:
        raise Conflict(f"That account is a member of '{publisher.handle}' already.", handle=publisher.handle)
    others = tuple(invited for invited in publisher.invitations if invited.account != account)
    if len(publisher.members) + len(others) >= MAX_MEMBERS:
        raise InvalidInput(f"A publisher has at most {MAX_MEMBERS} members, those who are invited among them.")
    invited = Member(account=account, role=role, since=now)
    return msgspec.structs.replace(publisher, invitations=(*others, invited), updated_at=now)


def join(publisher: Publisher, account: str, *, now: str) -> Publisher:
    """The publisher with somebody as a member who was invited. Raises NotFound for anybody else."""
    invited = next((one for one in publisher.invitations if one.account == account), None)
    if invited is None:
        raise NotFound(f"You are not invited to '{publisher.handle}'.", handle=publisher.handle)
    return put_member(publisher, account, role=invited.role, now=now)


def put_member(publisher: Publisher, account: str, *, role: MemberRole, now: str) -> Publisher:
    """The publisher with an account as a member in this role, whatever it was before."""
    before = next((member for member in publisher.members if member.account == account), None)
    member = Member(account=account, role=role, since=now if before is None else before.since)
    members = (*(one for one in publisher.members if one.account != account), member)
    return _changed(publisher, members=members, without=account, now=now)


def remove_member(publisher: Publisher, account: str, *, now: str) -> Publisher:
    """The publisher without a member, or without an invitation. Raises NotFound, or Conflict for the last owner."""
    if account not in publisher.accounts:
        raise NotFound(f"That account is no member of '{publisher.handle}'.", handle=publisher.handle)
    members = tuple(member for member in publisher.members if member.account != account)
    return _changed(publisher, members=members, without=account, now=now)


def hand_over(publisher: Publisher, account: str, *, now: str) -> Publisher:
    """The publisher with this account as its only member: what an operator does when the owners are gone."""
    owner = Member(account=account, role=MemberRole.OWNER, since=now)
    return msgspec.structs.replace(publisher, members=(owner,), invitations=(), updated_at=now)


def _changed(publisher: Publisher, *, members: tuple[Member, ...], without: str, now: str) -> Publisher:
    if not any(member.role is MemberRole.OWNER for member in members):
        raise Conflict(
            f"'{publisher.handle}' would have no owner. Make somebody else an owner first.", handle=publisher.handle
        )
    invitations = tuple(invited for invited in publisher.invitations if invited.account != without)
    return msgspec.structs.replace(publisher, members=members, invitations=invitations, updated_at=now)
