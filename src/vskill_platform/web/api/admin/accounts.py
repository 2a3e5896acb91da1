"""Managing accounts: making and closing them, their roles, passwords and sessions."""

from __future__ import annotations

import msgspec
from litestar import get, post
from litestar.params import FromPath, JSONBody

from vskill_platform.accounts.first_run import offer_password_link
from vskill_platform.accounts.managing import (
    add_account,
    disable_account,
    enable_account,
    reset_password,
    set_password,
    set_role,
)
from vskill_platform.domain.access import Permission, Role
from vskill_platform.domain.account import Account
from vskill_platform.domain.errors import LastAdministrator, NameTaken, NotFound
from vskill_platform.stores.accounts import list_accounts, require_account
from vskill_platform.stores.reads import require_complete
from vskill_platform.stores.sessions import end_sessions
from vskill_platform.web.access import needs
from vskill_platform.web.acting import act
from vskill_platform.web.api.account_views import ACCOUNT_EXAMPLE, AccountView, view_account
from vskill_platform.web.api.describing import described
from vskill_platform.web.pages.rendering import PageRequest

TAGS = ["admin"]
_MANAGE = needs(Permission.MANAGE_ACCOUNTS)
_ACCOUNT = "/api/v1/admin/accounts/{account:str}"
_WHY = "They have joined the team"


class NewAccount(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Whom the account is for. Without a password the answer has a link with which they choose one."""

    name: str
    role: Role = Role.SUBMITTER
    display_name: str = ""
    email: str | None = None
    password: str | None = None
    reason: str


class RoleChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The role an account is to have, and why."""

    role: Role
    reason: str


class Reason(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Why."""

    reason: str


class PasswordReset(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Why; the password that is to be set, or none for a link; and whether the second factor goes as well."""

    reason: str
    password: str | None = None
    also_second_factor: bool = False


class ChangedAccount(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An account as it is now. `link` is the path with which its owner sets a password; it is told once."""

    account: AccountView
    detail: str
    link: str | None = None


_CHANGED = ChangedAccount(account=ACCOUNT_EXAMPLE, detail="rita is a REVIEWER now.")
_LINKED = ChangedAccount(
    account=ACCOUNT_EXAMPLE, detail="rita has no password until the link is used.", link="/setup?token=…"
)


@get(
    "/api/v1/admin/accounts",
    summary="List accounts",
    tags=TAGS,
    opt=described([ACCOUNT_EXAMPLE], access=_MANAGE),
)
async def list_all_accounts() -> list[AccountView]:
    """Every account, by name."""
    return [view_account(account) for account in await sorted_accounts()]


async def sorted_accounts() -> list[Account]:
    """Every account, by name. Raises StoreUnavailable where not all could be read."""
    return sorted(require_complete(await list_accounts()), key=lambda account: account.name)


@post(
    "/api/v1/admin/accounts",
    summary="Make an account",
    tags=TAGS,
    status_code=201,
    opt=described(
        _LINKED,
        body=NewAccount(name="rita", role=Role.REVIEWER, reason=_WHY),
        errors=(NameTaken,),
        access=_MANAGE,
    ),
)
async def create(request: PageRequest, data: JSONBody[NewAccount]) -> ChangedAccount:
    """Make an account, with a password or with a link that is good for one day."""

    async def run() -> ChangedAccount:
        account = await add_account(
            data.name, role=data.role, display_name=data.display_name, email=data.email, password=data.password
        )
        link = await offer_password_link(account) if data.password is None else None
        return _changed(account, f"{account.name} is a {account.role} now.", link=link)

    return await act(request, "account.create", subject=data.name[:60], reason=data.reason, run=run)


@post(
    f"{_ACCOUNT}/role",
    summary="Change an account's role",
    tags=TAGS,
    status_code=200,
    opt=described(
        _CHANGED,
        body=RoleChange(role=Role.REVIEWER, reason=_WHY),
        errors=(NotFound, LastAdministrator),
        access=_MANAGE,
    ),
)
async def change_role(request: PageRequest, account: FromPath[str], data: JSONBody[RoleChange]) -> ChangedAccount:
    """Give an account another role. It holds from its next request on. The last super administrator stays one."""
    found = await require_account(account)
    changed = await act(
        request,
        "account.role",
        subject=found.name,
        reason=f"{data.reason.strip()} ({found.role} to {data.role})" if data.reason.strip() else "",
        run=lambda: set_role(found, data.role),
    )
    return _changed(changed, f"{changed.name} is a {changed.role} now.")


@post(
    f"{_ACCOUNT}/disable",
    summary="Disable an account",
    tags=TAGS,
    status_code=200,
    opt=described(_CHANGED, body=Reason(reason="They have left"), errors=(NotFound, LastAdministrator), access=_MANAGE),
)
async def disable(request: PageRequest, account: FromPath[str], data: JSONBody[Reason]) -> ChangedAccount:
    """Close an account: its sessions are over and its tokens do not work. The last super administrator stays."""
    found = await require_account(account)
    changed = await act(
        request, "account.disable", subject=found.name, reason=data.reason, run=lambda: disable_account(found)
    )
    return _changed(changed, f"{changed.name} is disabled.")


@post(
    f"{_ACCOUNT}/enable",
    summary="Enable an account",
    tags=TAGS,
    status_code=200,
    opt=described(_CHANGED, body=Reason(reason="They are back"), errors=(NotFound,), access=_MANAGE),
)
async def enable(request: PageRequest, account: FromPath[str], data: JSONBody[Reason]) -> ChangedAccount:
    """Open an account again. Tokens that were not revoked work again."""
    found = await require_account(account)
    changed = await act(
        request, "account.enable", subject=found.name, reason=data.reason, run=lambda: enable_account(found)
    )
    return _changed(changed, f"{changed.name} is enabled.")


@post(
    f"{_ACCOUNT}/reset-password",
    summary="Reset an account's password",
    tags=TAGS,
    status_code=200,
    opt=described(_LINKED, body=PasswordReset(reason="They forgot it"), errors=(NotFound,), access=_MANAGE),
)
async def reset(request: PageRequest, account: FromPath[str], data: JSONBody[PasswordReset]) -> ChangedAccount:
    """End an account's sessions and take its password away, for a new one or for a link with which its owner chooses one."""
    found = await require_account(account)

    async def run() -> ChangedAccount:
        if data.password is not None:
            return _changed(await set_password(found, data.password), f"{found.name} has a new password.")
        link = await reset_password(found, also_second_factor=data.also_second_factor)
        return _changed(found, f"{found.name} has no password until the link is used.", link=link)

    return await act(request, "account.reset_password", subject=found.name, reason=data.reason, run=run)


@post(
    f"{_ACCOUNT}/end-sessions",
    summary="End an account's sessions",
    tags=TAGS,
    status_code=200,
    opt=described(_CHANGED, body=Reason(reason="A laptop was lost"), errors=(NotFound,), access=_MANAGE),
)
async def end_all_sessions(request: PageRequest, account: FromPath[str], data: JSONBody[Reason]) -> ChangedAccount:
    """Sign an account out everywhere, at once."""
    found = await require_account(account)
    changed = await act(
        request, "account.end_sessions", subject=found.name, reason=data.reason, run=lambda: end_sessions(found.id)
    )
    return _changed(changed, f"{changed.name} is signed out everywhere.")


def _changed(account: Account, detail: str, *, link: str | None = None) -> ChangedAccount:
    return ChangedAccount(account=view_account(account), detail=detail, link=link)


ACCOUNT_ROUTES = [list_all_accounts, create, change_role, disable, enable, reset, end_all_sessions]
