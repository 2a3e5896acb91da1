"""Accounts, sessions and tokens as the API tells them: nothing that proves who somebody is, and no hashes."""

from __future__ import annotations

import msgspec

from vskill_platform.domain.access import Role, Scope
from vskill_platform.domain.account import Account, Token, is_token_live
from vskill_platform.stores.sessions import FoundSession
from vskill_platform.worker_context import current_env


class AccountView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An account, for its owner and for those who manage accounts."""

    id: str
    name: str
    display_name: str
    role: Role
    email: str | None
    has_password: bool
    has_second_factor: bool
    is_provided: bool
    is_disabled: bool
    created_at: str
    last_sign_in_at: str | None


class SessionView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One browser that an account is signed in with."""

    id: str
    created_at: str
    last_seen_at: str
    ends_at: str
    user_agent: str
    address: str
    is_this: bool


class TokenView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A token, without its text: that was told once."""

    id: str
    account_id: str
    account: str | None
    name: str
    scopes: tuple[Scope, ...]
    created_at: str
    last_used_at: str | None
    expires_at: str | None
    revoked_at: str | None
    is_live: bool


def view_account(account: Account) -> AccountView:
    """An account without its secrets."""
    return AccountView(
        id=account.id,
        name=account.name,
        display_name=account.display_name,
        role=account.role,
        email=account.email,
        has_password=account.password_hash is not None,
        has_second_factor=account.needs_code,
        is_provided=account.provider is not None,
        is_disabled=account.is_disabled,
        created_at=account.created_at,
        last_sign_in_at=account.last_sign_in_at,
    )


def view_session(found: FoundSession, *, this: str) -> SessionView:
    """A session; `this` is the id of the one that asks."""
    session = found.session
    return SessionView(
        id=found.id,
        created_at=session.created_at,
        last_seen_at=session.last_seen_at,
        ends_at=session.ends_at,
        user_agent=session.user_agent,
        address=session.address,
        is_this=found.id == this,
    )


def view_token(token: Token, *, account: str | None) -> TokenView:
    """A token; `account` is the name of whose it is, None where that account cannot be found."""
    return TokenView(
        id=token.id,
        account_id=token.account_id,
        account=account,
        name=token.name,
        scopes=token.scopes,
        created_at=token.created_at,
        last_used_at=token.last_used_at,
        expires_at=token.expires_at,
        revoked_at=token.revoked_at,
        is_live=is_token_live(token, now_ms=current_env("clock").clock.now_ms()),
    )


_AT = "2026-11-16T09:00:00.000Z"
ACCOUNT_EXAMPLE = AccountView(
    id="usr_3f2b8c1d9e4a4f60b7a1c5d2e8f90134",
    name="rita",
    display_name="Rita Reviewer",
    role=Role.REVIEWER,
    email="rita@example.com",
    has_password=True,
    has_second_factor=True,
    is_provided=False,
    is_disabled=False,
    created_at=_AT,
    last_sign_in_at=_AT,
)
SESSION_EXAMPLE = SessionView(
    id="ses_0123456789abcdef01234567",
    created_at=_AT,
    last_seen_at=_AT,
    ends_at="2026-11-23T09:00:00.000Z",
    user_agent="Mozilla/5.0 (X11; Linux x86_64)",
    address="192.0.2.1",
    is_this=True,
)
TOKEN_EXAMPLE = TokenView(
    id="tok_0123456789abcdef01234567",
    account_id=ACCOUNT_EXAMPLE.id,
    account="rita",
    name="the build server",
    scopes=(Scope.READ, Scope.SUBMIT),
    created_at=_AT,
    last_used_at=None,
    expires_at=None,
    revoked_at=None,
    is_live=True,
)
