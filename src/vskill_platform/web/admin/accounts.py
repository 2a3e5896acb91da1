"""Accounts and their tokens, for those who manage them."""

from __future__ import annotations

from litestar import Response, get

from vskill_platform.domain.access import Permission, Role
from vskill_platform.web.access import ACCESS, needs
from vskill_platform.web.admin.frame import admin_page
from vskill_platform.web.api.account_views import view_account
from vskill_platform.web.api.admin.accounts import sorted_accounts
from vskill_platform.web.api.admin.tokens import all_tokens
from vskill_platform.web.pages.rendering import PageRequest


@get("/admin/accounts", opt={ACCESS: needs(Permission.MANAGE_ACCOUNTS)})
async def show_accounts(request: PageRequest) -> Response[str]:
    """Every account with its role and standing, what can be done with it, and the tokens of all."""
    return await admin_page(
        request,
        "admin/accounts.html",
        section="accounts",
        accounts=[view_account(account) for account in await sorted_accounts()],
        tokens=await all_tokens(),
        roles=[role.value for role in Role],
    )
