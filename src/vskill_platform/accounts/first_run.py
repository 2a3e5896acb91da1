"""Setting a password by a link: of the first administrator when a registry is new, or of an account whose password was reset.

Whoever can read what the process prints when it starts is the operator, so the link is printed there and nowhere else. Every
start while there is no super administrator makes one; the first that is used makes all of them worthless.
"""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from vskill_platform.accounts.auditing import audited_as
from vskill_platform.accounts.passwords import check_password, hash_password
from vskill_platform.domain.access import Role
from vskill_platform.domain.account import SUPER_ADMINS_KEY, Account, LinkPurpose, normalise_login
from vskill_platform.domain.errors import Conflict, LinkSpent
from vskill_platform.ports.commit import ABSENT, Check, Operation
from vskill_platform.stores.accounts import change_account, create_account, get_account, super_admins
from vskill_platform.stores.links import FoundLink, create_link, find_link
from vskill_platform.stores.sessions import with_sessions_ended

FIRST_RUN_S = 3600.0
PASSWORD_LINK_S = 24 * 3600.0


async def offer_first_run() -> str | None:
    """The path of a link that makes the first super administrator; None where there is one already."""
    if await super_admins():
        return None
    return link_path(await create_link(LinkPurpose.FIRST_RUN, lasts_s=FIRST_RUN_S))


async def offer_password_link(account: Account) -> str:
    """The path of a link with which an account's owner sets a new password."""
    return link_path(await create_link(LinkPurpose.PASSWORD, lasts_s=PASSWORD_LINK_S, account_id=account.id))


def link_path(secret: str) -> str:
    """Where a link leads."""
    return f"/setup?token={quote(secret)}"


async def open_link(secret: str) -> tuple[FoundLink, Account | None]:
    """A link that works, and the account it is for; None for the first administrator's. Raises LinkSpent."""
    found = await find_link(secret)
    if found is None:
        raise _spent()
    if found.link.purpose is LinkPurpose.FIRST_RUN:
        if await super_admins():
            raise _spent()
        return found, None
    account = await get_account(found.link.account_id or "")
    if account is None or account.is_disabled:
        raise _spent()
    return found, account


async def use_link(secret: str, *, name: str, password: str) -> Account:
    """Set the password that a link is for; the first administrator also chooses a name. Raises LinkSpent, WeakPassword."""
    found, account = await open_link(secret)
    login = normalise_login(name) if account is None else account.name
    check_password(password, name=login)
    password_hash = await hash_password(password)
    try:
        if account is None:
            return await _create_first(found, login, password_hash)
        return await _set_password(found, account, password_hash)
    except Conflict as exc:
        raise _spent() from exc


async def _create_first(found: FoundLink, login: str, password_hash: str) -> Account:
    also: list[Operation] = [found.using, Check(SUPER_ADMINS_KEY, ABSENT)]
    return await audited_as(
        login,
        "account.first_run",
        reason="The first administrator, by the link that was printed at the start.",
        run=lambda: create_account(login, role=Role.SUPER_ADMIN, password_hash=password_hash, also=also),
    )


async def _set_password(found: FoundLink, account: Account, password_hash: str) -> Account:
    return await audited_as(
        account.name,
        "account.password",
        reason="A new password, by a link.",
        account=account,
        run=lambda: change_account(
            account.id,
            lambda one: with_sessions_ended(msgspec.structs.replace(one, password_hash=password_hash)),
            also=[found.using],
        ),
    )


def _spent() -> LinkSpent:
    return LinkSpent("This link was used already or its time is over. Ask your administrator for another.")
