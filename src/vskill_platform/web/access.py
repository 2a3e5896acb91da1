"""What a route asks of whoever calls it. A route that does not say is closed.

A route declares its access in its `opt`: `opt={ACCESS: ANYONE}`, or `opt=described(…, access=needs(Permission.REVIEW))`. One
guard of the application looks at it before anything else of the route runs.
"""

from __future__ import annotations

import base64
from typing import Any, NamedTuple, cast

from litestar import Request
from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.handlers import BaseRouteHandler
from litestar.types import Scope

from vskill_platform.accounts.identity import caller_of_session, caller_of_token
from vskill_platform.domain.access import NOBODY, OPERATOR, Caller, CallerKind, Permission
from vskill_platform.domain.errors import CredentialRefused, NotAllowed, SignInRequired
from vskill_platform.web.secure_sessions import SESSION_COOKIE
from vskill_platform.web.surface.personal import mark_personal

ACCESS = "access"
"""In a route's `opt`: what it asks."""
IS_CONTROL = "is_control"
"""In the application's state: whether every caller is the operator, as on the control socket."""
_CALLER = "vskill_platform.caller"
_BASIC_PLACES = ("/apm/",)
"""Where programs may show a token as a password. A browser would send one by itself, so nowhere else."""
Connection = ASGIConnection[Any, Any, Any, Any]


class Access(NamedTuple):
    """What is asked of a caller: nothing, or a permission."""

    permission: Permission | None


ANYONE = Access(None)


def needs(permission: Permission) -> Access:
    """Open to those who have a permission."""
    return Access(permission)


async def check_access(connection: Connection, handler: BaseRouteHandler) -> None:
    """Raise SignInRequired or NotAllowed unless the caller may use this route. The guard of every application."""
    access = handler.opt.get(ACCESS)
    if not isinstance(access, Access):
        raise NotAllowed("This address is not open to anybody: it does not say to whom it is.")
    if access.permission is not None:
        mark_personal(connection.scope)
    caller = await find_caller(connection)
    if access.permission is None or caller.may(access.permission):
        return
    if caller.kind is CallerKind.NOBODY:
        raise _refusal(connection)
    raise NotAllowed(f"{caller.name} may not do this: it needs the permission '{access.permission.value}'.")


def caller_of(request: Request[Any, Any, State]) -> Caller:
    """Whoever makes the request, as the guard found out."""
    return caller_in(request.scope)


def caller_in(scope: Scope) -> Caller:
    """Whoever makes the request of a scope, as the guard found out."""
    return cast("dict[str, Caller]", scope).get(_CALLER, NOBODY)


async def find_caller(connection: Connection) -> Caller:
    """Whoever makes a request, found once and kept with it. A token counts before a session."""
    scope = cast("dict[str, Any]", connection.scope)
    if _CALLER not in scope:
        scope[_CALLER] = await _identify(connection)
    return cast("Caller", scope[_CALLER])


async def _identify(connection: Connection) -> Caller:
    if connection.app.state.get(IS_CONTROL):
        return OPERATOR
    token = _shown_token(connection)
    if token is not None:
        return await caller_of_token(token) or NOBODY
    secret = connection.cookies.get(SESSION_COOKIE)
    return NOBODY if not secret else await caller_of_session(secret) or NOBODY


def _shown_token(connection: Connection) -> str | None:
    """The token that a program shows, whatever it is worth; None where it shows none."""
    given = connection.headers.get("authorization", "")
    kind, _, shown = given.partition(" ")
    if kind.lower() == "bearer":
        return shown.strip()
    if kind.lower() == "basic" and connection.scope["path"].startswith(_BASIC_PLACES):
        return _password(shown)
    return None


def _password(shown: str) -> str:
    """The password of a basic authorization, which is a token; the name before it says nothing. Empty where it is none."""
    try:
        return base64.b64decode(shown.strip(), validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


def _refusal(connection: Connection) -> SignInRequired:
    """Why somebody is nobody: there was nothing to know them by, or it is worth nothing any more."""
    if _shown_token(connection) is not None:
        return CredentialRefused("This API token is not one of ours, has ended or was revoked. Make a new one.")
    if connection.cookies.get(SESSION_COOKIE):
        return CredentialRefused("You are not signed in any more. Sign in again.")
    return SignInRequired("Sign in first, or send an API token as `Authorization: Bearer`.")
