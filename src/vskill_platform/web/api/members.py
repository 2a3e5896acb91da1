"""A publisher and its members, for those who belong to it."""

from __future__ import annotations

import msgspec
import structlog
from litestar import delete, get, post, put
from litestar.params import JSONBody

from vskill_platform.accounts.ownership import require_owner
from vskill_platform.domain.access import Caller
from vskill_platform.domain.account import check_display_name
from vskill_platform.domain.errors import Conflict, NotFound
from vskill_platform.domain.publisher import (
    Member,
    MemberRole,
    Publisher,
    PublisherKind,
    invite,
    join,
    put_member,
    remove_member,
)
from vskill_platform.stores.accounts import get_account, require_account
from vskill_platform.stores.publishers import change_publisher, now_iso, publishers_of
from vskill_platform.web.access import caller_of
from vskill_platform.web.api.own_views import (
    InviteRequest,
    MemberView,
    OwnPublisher,
    OwnPublisherList,
    PublisherChange,
    RoleRequest,
    Told,
    view_publisher,
)
from vskill_platform.web.api.owning import Handle, owned
from vskill_platform.web.api.owning import Member as MemberName
from vskill_platform.web.pages.rendering import PageRequest

TAGS = ["publishers"]
EXAMPLE = OwnPublisher(
    handle="acme",
    kind=PublisherKind.ORGANISATION,
    title="Acme",
    places=("github.com/acme",),
    role=MemberRole.OWNER,
    is_invited=False,
    members=[MemberView(login="ada", role=MemberRole.OWNER, since="2026-11-16T09:00:00.000Z")],
    created_at="2026-11-16T09:00:00.000Z",
    updated_at="2026-11-16T09:00:00.000Z",
)
_log = structlog.get_logger(__name__)


@get(
    "/api/v1/account/publishers",
    summary="List your publishers",
    tags=["account"],
    opt=owned(OwnPublisherList(publishers=[EXAMPLE])),
)
async def list_own_publishers(request: PageRequest) -> OwnPublisherList:
    """The publishers that you are a member of, and those that you are invited to."""
    return await own_publishers(caller_of(request))


async def own_publishers(caller: Caller) -> OwnPublisherList:
    """The publishers of a caller."""
    return OwnPublisherList(publishers=[await show_to(caller, one) for one in await publishers_of(caller.id)])


@put(
    "/api/v1/publishers/{name:str}",
    summary="Change a publisher",
    tags=TAGS,
    opt=owned(
        EXAMPLE, body=PublisherChange(title="Acme", kind=PublisherKind.ORGANISATION), errors=(NotFound, Conflict)
    ),
)
async def change_own_publisher(request: PageRequest, name: Handle, data: JSONBody[PublisherChange]) -> OwnPublisher:
    """Set the display name and the kind. For owners."""
    caller = caller_of(request)
    await require_owner(caller, name)
    title = check_display_name(data.title)

    def change(publisher: Publisher) -> Publisher:
        return msgspec.structs.replace(publisher, title=title, kind=data.kind, updated_at=now_iso())

    return await show_to(caller, await change_publisher(name, change))


@post(
    "/api/v1/publishers/{name:str}/members",
    status_code=200,
    summary="Invite a member",
    tags=TAGS,
    opt=owned(EXAMPLE, body=InviteRequest(login="grace"), errors=(NotFound, Conflict)),
)
async def invite_member(request: PageRequest, name: Handle, data: JSONBody[InviteRequest]) -> OwnPublisher:
    """Invite an account by the name that it signs in with. It is a member once it has joined. For owners."""
    caller = caller_of(request)
    await require_owner(caller, name)
    invited = await require_account(data.login)
    changed = await change_publisher(name, lambda one: invite(one, invited.id, role=data.role, now=now_iso()))
    _log.info("member_invited", handle=name, by=caller.id, account=invited.id, role=data.role.value)
    return await show_to(caller, changed)


@put(
    "/api/v1/publishers/{name:str}/members/{login:str}",
    summary="Change a member's role",
    tags=TAGS,
    opt=owned(EXAMPLE, body=RoleRequest(role=MemberRole.OWNER), errors=(NotFound, Conflict)),
)
async def change_member(
    request: PageRequest, name: Handle, login: MemberName, data: JSONBody[RoleRequest]
) -> OwnPublisher:
    """Make a member an owner, or an owner a member; there is always an owner left. For owners."""
    caller = caller_of(request)
    await require_owner(caller, name)
    account = await require_account(login)

    def change(publisher: Publisher) -> Publisher:
        if publisher.role_of(account.id) is None:
            raise NotFound(f"'{login}' is no member of '{name}'.", login=login)
        return put_member(publisher, account.id, role=data.role, now=now_iso())

    changed = await change_publisher(name, change)
    _log.info("member_changed", handle=name, by=caller.id, account=account.id, role=data.role.value)
    return await show_to(caller, changed)


@delete(
    "/api/v1/publishers/{name:str}/members/{login:str}",
    status_code=200,
    summary="Remove a member",
    tags=TAGS,
    opt=owned(EXAMPLE, errors=(NotFound, Conflict)),
)
async def remove_one_member(request: PageRequest, name: Handle, login: MemberName) -> OwnPublisher:
    """Remove a member, or take an invitation back; the last owner stays. For owners."""
    caller = caller_of(request)
    await require_owner(caller, name)
    account = await require_account(login)
    changed = await change_publisher(name, lambda one: remove_member(one, account.id, now=now_iso()))
    _log.info("member_removed", handle=name, by=caller.id, account=account.id)
    return await show_to(caller, changed)


@post(
    "/api/v1/publishers/{name:str}/join",
    status_code=200,
    summary="Accept an invitation",
    tags=TAGS,
    opt=owned(EXAMPLE, errors=(NotFound, Conflict)),
)
async def join_publisher(request: PageRequest, name: Handle) -> OwnPublisher:
    """Become a member of a publisher that has invited you."""
    caller = caller_of(request)
    changed = await change_publisher(name, lambda one: join(one, caller.id, now=now_iso()))
    _log.info("member_joined", handle=name, account=caller.id)
    return await show_to(caller, changed)


@post(
    "/api/v1/publishers/{name:str}/leave",
    status_code=200,
    summary="Leave a publisher",
    tags=TAGS,
    opt=owned(Told(detail="You are no member of 'acme' any more."), errors=(NotFound, Conflict)),
)
async def leave_publisher(request: PageRequest, name: Handle) -> Told:
    """Leave a publisher, or turn its invitation down. The last owner cannot leave."""
    caller = caller_of(request)
    await change_publisher(name, lambda one: remove_member(one, caller.id, now=now_iso()))
    _log.info("member_left", handle=name, account=caller.id)
    return Told(detail=f"You are no member of '{name}' any more.")


async def show_to(caller: Caller, publisher: Publisher) -> OwnPublisher:
    """A publisher as the caller sees it: who the members are is told to members alone."""
    members: list[MemberView] = []
    if publisher.role_of(caller.id) is not None:
        members = [await view_member(member) for member in publisher.members]
        members += [await view_member(member, is_invited=True) for member in publisher.invitations]
    return view_publisher(publisher, account=caller.id, members=members)


async def view_member(member: Member, *, is_invited: bool = False) -> MemberView:
    """A member by the name that the account signs in with."""
    account = await get_account(member.account)
    login = member.account if account is None else account.name
    return MemberView(login=login, role=member.role, since=member.since, is_invited=is_invited)


MEMBER_ROUTES = [
    list_own_publishers,
    change_own_publisher,
    invite_member,
    change_member,
    remove_one_member,
    join_publisher,
    leave_publisher,
]
