"""Publishers as the operator meets them: giving one to an account, handing it on, and letting it be unclaimed again."""

from __future__ import annotations

import msgspec
from litestar import get, post
from litestar.params import JSONBody

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import Conflict, InvalidRepositoryUrl, NotFound
from vskill_platform.domain.publisher import MemberRole, Publisher, PublisherKind, hand_over, place_of
from vskill_platform.domain.repository import normalise_repository_url
from vskill_platform.domain.slug import owner_handle
from vskill_platform.ports.commit import Operation
from vskill_platform.stores.accounts import require_account
from vskill_platform.stores.fresh import commit_fresh
from vskill_platform.stores.publishers import (
    change_publisher,
    granting,
    list_publishers,
    now_iso,
    remove_publisher,
)
from vskill_platform.stores.reads import require_readable
from vskill_platform.web.access import needs
from vskill_platform.web.acting import act
from vskill_platform.web.api import examples
from vskill_platform.web.api.describing import described
from vskill_platform.web.api.members import view_member
from vskill_platform.web.api.own_views import Asked, Login, MemberView, ReasonRequest, Told
from vskill_platform.web.api.owning import Handle
from vskill_platform.web.pages.rendering import PageRequest

TAGS = ["admin"]
_GIVING = needs(Permission.MANAGE_ACCOUNTS)


class ClaimedPublisher(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A publisher that was claimed, its places and its members."""

    handle: str
    kind: PublisherKind
    title: str
    places: tuple[str, ...]
    members: list[MemberView]
    created_at: str
    updated_at: str


class ClaimedPublishers(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Every publisher that was claimed, by handle."""

    publishers: list[ClaimedPublisher]


class GrantRequest(Asked, frozen=True, kw_only=True, rename="camel"):
    """A repository of the owner whose publisher an account is to have, the account's login name, and why."""

    repo_url: str
    login: Login
    kind: PublisherKind = PublisherKind.PERSON
    reason: str


class TransferRequest(Asked, frozen=True, kw_only=True, rename="camel"):
    """Who is to be the only owner, and why."""

    login: Login
    reason: str


_EXAMPLE = ClaimedPublisher(
    handle="acme",
    kind=PublisherKind.ORGANISATION,
    title="Acme",
    places=("github.com/acme",),
    members=[MemberView(login="ada", role=MemberRole.OWNER, since="2026-11-16T09:00:00.000Z")],
    created_at="2026-11-16T09:00:00.000Z",
    updated_at="2026-11-16T09:00:00.000Z",
)
_WHY = "They have shown that the organisation is theirs"


@get(
    "/api/v1/admin/publishers",
    summary="List claimed publishers",
    tags=TAGS,
    opt=described(ClaimedPublishers(publishers=[_EXAMPLE]), access=_GIVING),
)
async def list_claimed() -> ClaimedPublishers:
    """Every publisher that was claimed, with its places and members."""
    return await claimed_publishers()


async def claimed_publishers() -> ClaimedPublishers:
    """Every publisher that was claimed."""
    found = require_readable(await list_publishers())
    return ClaimedPublishers(publishers=[await _view(publisher) for publisher in found])


@post(
    "/api/v1/admin/publishers",
    status_code=200,
    summary="Give a publisher to an account",
    tags=TAGS,
    opt=described(
        _EXAMPLE,
        body=GrantRequest(repo_url=examples.REPOSITORY, login="ada", reason=_WHY),
        errors=(InvalidRepositoryUrl, NotFound, Conflict),
        access=_GIVING,
    ),
)
async def grant_publisher(request: PageRequest, data: JSONBody[GrantRequest]) -> ClaimedPublisher:
    """Make an account the owner of whatever comes from the owner of a repository, without proof."""
    address = normalise_repository_url(data.repo_url).url
    account = await require_account(data.login)
    handle = owner_handle(address)

    async def prepare() -> tuple[Publisher, list[Operation]]:
        return await granting(handle, place=place_of(address), kind=data.kind, account=account.id)

    publisher = await act(
        request,
        "publisher.grant",
        subject=f"publisher:{handle}",
        reason=data.reason,
        run=lambda: commit_fresh(prepare),
    )
    return await _view(publisher)


@post(
    "/api/v1/admin/publishers/{name:str}/transfer",
    status_code=200,
    summary="Hand a publisher to another account",
    tags=TAGS,
    opt=described(
        _EXAMPLE, body=TransferRequest(login="grace", reason=_WHY), errors=(NotFound, Conflict), access=_GIVING
    ),
)
async def transfer_publisher(request: PageRequest, name: Handle, data: JSONBody[TransferRequest]) -> ClaimedPublisher:
    """Make an account the only member of a publisher."""
    account = await require_account(data.login)
    publisher = await act(
        request,
        "publisher.transfer",
        subject=f"publisher:{name}",
        reason=data.reason,
        run=lambda: change_publisher(name, lambda one: hand_over(one, account.id, now=now_iso())),
    )
    return await _view(publisher)


@post(
    "/api/v1/admin/publishers/{name:str}/remove",
    status_code=200,
    summary="Let a publisher be unclaimed again",
    tags=TAGS,
    opt=described(
        Told(detail="'acme' belongs to nobody any more."),
        body=ReasonRequest(reason="The claim was made in bad faith"),
        errors=(NotFound, Conflict),
        access=_GIVING,
    ),
)
async def unclaim_publisher(request: PageRequest, name: Handle, data: JSONBody[ReasonRequest]) -> Told:
    """Take a publisher from its members. What is published under it stays, and its collections do."""
    await act(
        request,
        "publisher.remove",
        subject=f"publisher:{name}",
        reason=data.reason,
        run=lambda: remove_publisher(name),
    )
    return Told(detail=f"'{name}' belongs to nobody any more.")


async def _view(publisher: Publisher) -> ClaimedPublisher:
    return ClaimedPublisher(
        handle=publisher.handle,
        kind=publisher.kind,
        title=publisher.title,
        places=publisher.places,
        members=[await view_member(member) for member in publisher.members],
        created_at=publisher.created_at,
        updated_at=publisher.updated_at,
    )


PUBLISHER_ROUTES = [list_claimed, grant_publisher, transfer_publisher, unclaim_publisher]
