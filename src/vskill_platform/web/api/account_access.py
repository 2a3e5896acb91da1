"""What one's own account is reached with: the sessions of browsers, and the tokens of programs."""

from __future__ import annotations

import msgspec
from litestar import Response, delete, get, post
from litestar.params import FromPath, JSONBody

from vskill_platform.domain.access import Scope
from vskill_platform.domain.errors import NotFound
from vskill_platform.stores.sessions import end_session_of, end_sessions, list_sessions
from vskill_platform.stores.tokens import create_token, list_tokens_of, revoke_token
from vskill_platform.web.access import caller_of
from vskill_platform.web.acting import act
from vskill_platform.web.api.account import BY_OWNER, CHANGE, NOT_KEPT, PATH, TAGS, Done, account_of
from vskill_platform.web.api.account_views import (
    SESSION_EXAMPLE,
    TOKEN_EXAMPLE,
    SessionView,
    TokenView,
    view_session,
    view_token,
)
from vskill_platform.web.api.describing import described
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.session_cookies import ended_cookies


class NewToken(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What a token is called, what it may be used for, and after how many days it ends; never, where that is left out."""

    name: str
    scopes: list[Scope]
    expires_in_days: float | None = None


class CreatedToken(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A token and its text, which is told once."""

    token: TokenView
    text: str
    detail: str = "Copy the token now: it is not shown again."


@get(f"{PATH}/sessions", summary="Your sessions", tags=TAGS, opt=described([SESSION_EXAMPLE], access=CHANGE))
async def list_own_sessions(request: PageRequest) -> Response[list[SessionView]]:
    """Every browser that you are signed in with, the one that was seen last first."""
    found = await list_sessions(await account_of(request))
    return Response([view_session(one, this=caller_of(request).credential) for one in found], headers=NOT_KEPT)


@delete(
    f"{PATH}/sessions/{{session:str}}",
    summary="End one of your sessions",
    tags=TAGS,
    status_code=200,
    opt=described(Done(detail="That browser is signed out."), errors=(NotFound,), access=CHANGE),
)
async def end_one_session(request: PageRequest, session: FromPath[str]) -> Done:
    """Sign one browser out, at once."""
    account = await account_of(request)
    await act(
        request,
        "account.end_session",
        subject=account.name,
        reason=BY_OWNER,
        run=lambda: end_session_of(account, session),
    )
    return Done(detail="That browser is signed out.")


@delete(
    f"{PATH}/sessions",
    summary="End all of your sessions",
    tags=TAGS,
    status_code=200,
    opt=described(Done(detail="You are signed out everywhere."), access=CHANGE),
)
async def end_own_sessions(request: PageRequest) -> Response[Done]:
    """Sign out everywhere, here as well."""
    account = await account_of(request)
    await act(
        request,
        "account.end_sessions",
        subject=account.name,
        reason=BY_OWNER,
        run=lambda: end_sessions(account.id),
    )
    return Response(Done(detail="You are signed out everywhere."), cookies=ended_cookies())


@get(f"{PATH}/tokens", summary="Your tokens", tags=TAGS, opt=described([TOKEN_EXAMPLE], access=CHANGE))
async def list_own_tokens(request: PageRequest) -> Response[list[TokenView]]:
    """Your API tokens, the newest first, without their texts."""
    account = await account_of(request)
    found = await list_tokens_of(account.id)
    return Response([view_token(token, account=account.name) for token in found], headers=NOT_KEPT)


@post(
    f"{PATH}/tokens",
    summary="Make a token",
    tags=TAGS,
    opt=described(
        CreatedToken(token=TOKEN_EXAMPLE, text="vsk_…"),
        body=NewToken(name="the build server", scopes=[Scope.READ, Scope.SUBMIT], expires_in_days=90),
        access=CHANGE,
    ),
)
async def make_own_token(request: PageRequest, data: JSONBody[NewToken]) -> CreatedToken:
    """A token for a program that acts in your name. Its text is in this answer and nowhere else."""
    account = await account_of(request)
    made = await act(
        request,
        "token.create",
        subject=account.name,
        reason=f"{BY_OWNER} Scopes: {', '.join(data.scopes)}.",
        run=lambda: create_token(account, name=data.name, scopes=data.scopes, expires_in_days=data.expires_in_days),
    )
    return CreatedToken(token=view_token(made.token, account=account.name), text=made.text)


@delete(
    f"{PATH}/tokens/{{token:str}}",
    summary="Revoke one of your tokens",
    tags=TAGS,
    status_code=200,
    opt=described(Done(detail="The token is revoked."), errors=(NotFound,), access=CHANGE),
)
async def revoke_own_token(request: PageRequest, token: FromPath[str]) -> Done:
    """Revoke a token of yours. No request with it is answered any more."""
    account = await account_of(request)
    await act(
        request,
        "token.revoke",
        subject=token[:60],
        reason=BY_OWNER,
        run=lambda: revoke_token(token, account_id=account.id),
    )
    return Done(detail="The token is revoked.")


OWN_ACCESS_ROUTES = [
    list_own_sessions,
    end_one_session,
    end_own_sessions,
    list_own_tokens,
    make_own_token,
    revoke_own_token,
]
