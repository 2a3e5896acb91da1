"""Who uses the client: the publishers that they are members of, and the end of the token that they came with."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, Response, delete, get, post
from litestar.datastructures import State

from vskill_platform.domain.access import CallerKind, Permission
from vskill_platform.domain.errors import NotAllowed
from vskill_platform.stores.publishers import publishers_of
from vskill_platform.stores.tokens import revoke_token
from vskill_platform.web.access import ACCESS, caller_of, needs

API = "/vskill/api/v1"
_NOT_KEPT = {"Cache-Control": "no-store"}


class Tenant(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A publisher that the caller is a member of."""

    tenant_id: str
    slug: str
    name: str
    role: str
    installation_id: str | None = None


class Tenants(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """All of them."""

    tenants: list[Tenant]


class SignedOut(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Whether the token that came with the request was ended."""

    ok: bool = True
    revoked: int


@get(f"{API}/account/tenants", opt={ACCESS: needs(Permission.OWN)})
async def list_tenants(request: Request[Any, Any, State]) -> Response[Tenants]:
    """The caller's publishers, and what they are there."""
    account = caller_of(request).id
    found = [(publisher, publisher.role_of(account)) for publisher in await publishers_of(account)]
    tenants = [
        Tenant(tenant_id=one.handle, slug=one.handle, name=one.title or one.handle, role=role.value.lower())
        for one, role in found
        if role is not None
    ]
    return Response(Tenants(tenants=tenants), headers=_NOT_KEPT)


@delete(f"{API}/auth/sign-out-all", status_code=200)
async def sign_out(request: Request[Any, Any, State]) -> Response[SignedOut]:
    """End the token that the client has. Others stay: a token that has leaked must not sign its owner out everywhere."""
    caller = caller_of(request)
    if caller.kind is not CallerKind.TOKEN:
        return Response(SignedOut(revoked=0), headers=_NOT_KEPT)
    await revoke_token(caller.credential, account_id=caller.id)
    return Response(SignedOut(revoked=1), headers=_NOT_KEPT)


@post(f"{API}/auth/github/exchange-for-vsk-token")
async def refuse_exchange() -> None:
    """This registry knows its accounts itself; the client goes on without a token of ours."""
    raise NotAllowed("This registry does not know people by GitHub's tokens. Make one here, under Account and Tokens.")
