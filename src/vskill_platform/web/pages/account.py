"""One's own account as a page, and the menu that stands in the header of every page."""

from __future__ import annotations

from litestar import Response, get

from vskill_platform.domain.access import ROLE_PERMISSIONS, Permission, Scope
from vskill_platform.stores.sessions import list_sessions
from vskill_platform.stores.tokens import list_tokens_of
from vskill_platform.web.access import ACCESS, caller_of, needs
from vskill_platform.web.api.account import account_of
from vskill_platform.web.api.account_views import view_account, view_session, view_token
from vskill_platform.web.pages.rendering import PageRequest, page

_NOT_KEPT = {"Cache-Control": "no-store"}
SCOPE_WORDS = {
    Scope.READ: "read what your role may see",
    Scope.SUBMIT: "submit repositories",
    Scope.MANAGE: "manage your publishers and skills",
    Scope.REVIEW: "review, block and steer the queue",
    Scope.SCAN: "run external scans as a remote worker",
    Scope.ADMIN: "everything your role may do, but change your account",
}


@get("/account", opt={ACCESS: needs(Permission.CHANGE_ACCOUNT)})
async def show_account(request: PageRequest) -> Response[str]:
    """Profile, password, second factor, sessions and tokens."""
    caller, account = caller_of(request), await account_of(request)
    return page(
        request,
        "account.html",
        headers=_NOT_KEPT,
        account=view_account(account),
        recovery_left=len(account.totp.recovery_hashes) if account.totp else 0,
        account_sessions=[view_session(found, this=caller.credential) for found in await list_sessions(account)],
        tokens=[view_token(token, account=account.name) for token in await list_tokens_of(account.id)],
        scopes=SCOPE_WORDS,
        may_administer=Permission.SEE_PANEL in ROLE_PERMISSIONS[account.role],
    )


@get("/account/menu")
async def show_account_menu(request: PageRequest) -> Response[str]:
    """What the header of every page has for who is signed in; for others, the way in."""
    caller = caller_of(request)
    return page(
        request,
        "parts/account_menu.html",
        headers=_NOT_KEPT,
        name=caller.name,
        role=caller.role.value if caller.role else "",
        may_administer=caller.may(Permission.SEE_PANEL),
    )


ACCOUNT_PAGES = [show_account, show_account_menu]
