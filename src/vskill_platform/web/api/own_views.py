"""What the API says to people about what is theirs: publishers, claims and submissions."""

from __future__ import annotations

from typing import Annotated

import msgspec

from vskill_platform.domain.publisher import CLAIM_FILE, ClaimChallenge, MemberRole, Publisher, PublisherKind
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.web.api.parameters import MAX_URL_CHARS
from vskill_platform.web.api.report_views import ReportView

MAX_REASON_CHARS = 1000
Reason = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_REASON_CHARS)]
Login = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class Asked(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What is asked for, with nothing that nobody knows."""


class Told(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What was done, in a sentence."""

    detail: str


class ReasonRequest(Asked, frozen=True, kw_only=True, rename="camel"):
    """Why."""

    reason: Reason


class ClaimRequest(Asked, frozen=True, kw_only=True, rename="camel"):
    """A repository of the owner that is to be claimed, with a skill that is published here; and what the publisher is."""

    repo_url: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_URL_CHARS)]
    kind: PublisherKind = PublisherKind.PERSON


class ClaimView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An open claim: commit `token` as a line of `file` to the default branch of the repository, then have it verified."""

    id: str
    handle: str
    place: str
    repo_url: str
    kind: PublisherKind
    file: str
    token: str
    expires_at: str


class ClaimList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The claims that an account has open."""

    claims: list[ClaimView]


class MemberView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A member, or somebody who is invited, by the name that they sign in with."""

    login: str
    role: MemberRole
    since: str
    is_invited: bool = False


class OwnPublisher(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A publisher as its members see it, and those who are invited. `role` is the caller's own."""

    handle: str
    kind: PublisherKind
    title: str
    places: tuple[str, ...]
    role: MemberRole | None
    is_invited: bool
    members: list[MemberView]
    created_at: str
    updated_at: str


class OwnPublisherList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The publishers that the caller is a member of or invited to."""

    publishers: list[OwnPublisher]


class PublisherChange(Asked, frozen=True, kw_only=True, rename="camel"):
    """The display name, and whether it is a person or an organisation."""

    title: Annotated[str, msgspec.Meta(max_length=200)]
    kind: PublisherKind


class InviteRequest(Asked, frozen=True, kw_only=True, rename="camel"):
    """Whom to invite, and as what."""

    login: Login
    role: MemberRole = MemberRole.MEMBER


class RoleRequest(Asked, frozen=True, kw_only=True, rename="camel"):
    """What a member is to be."""

    role: MemberRole


class OwnSubmission(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A submission as its submitter sees it, with what can be done about it. `email` is what was left with it."""

    id: str
    repo_url: str
    skill_name: str
    state: SubmissionState
    run: int
    reason: str | None
    verdict: str | None
    score: int | None
    slug: str | None
    version: str | None
    created_at: str
    updated_at: str
    may_withdraw: bool
    may_retry: bool
    may_appeal: bool
    email: str | None = None


class OwnSubmissionList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One page of what the caller has submitted, the newest change first."""

    submissions: list[OwnSubmission]
    total: int
    limit: int
    offset: int


class AppealList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The reports and appeals that the caller has made while signed in, the newest first."""

    appeals: list[ReportView]


class Erased(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """From how many places an address was erased."""

    erased: int
    detail: str


def view_claim(challenge: ClaimChallenge) -> ClaimView:
    """A claim as its account sees it."""
    return ClaimView(
        id=challenge.id,
        handle=challenge.handle,
        place=challenge.place,
        repo_url=challenge.repo_url,
        kind=challenge.kind,
        file=CLAIM_FILE,
        token=challenge.token,
        expires_at=challenge.expires_at,
    )


def view_publisher(publisher: Publisher, *, account: str, members: list[MemberView]) -> OwnPublisher:
    """A publisher as this account sees it."""
    return OwnPublisher(
        handle=publisher.handle,
        kind=publisher.kind,
        title=publisher.title,
        places=publisher.places,
        role=publisher.role_of(account),
        is_invited=publisher.is_invited(account),
        members=members,
        created_at=publisher.created_at,
        updated_at=publisher.updated_at,
    )
