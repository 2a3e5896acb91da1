"""What those who manage accounts do with them, and what people do with their own. Who may is asked elsewhere."""

from __future__ import annotations

import msgspec

from vskill_platform.accounts.first_run import offer_password_link
from vskill_platform.accounts.passwords import check_password, hash_password, verify_password
from vskill_platform.domain.access import Role
from vskill_platform.domain.account import Account, check_display_name, check_email, normalise_login
from vskill_platform.domain.errors import InvalidInput, SignInRequired
from vskill_platform.stores.accounts import change_account, create_account
from vskill_platform.stores.sessions import OpenedSession, new_session, with_sessions_ended


async def add_account(
    name: str, *, role: Role, display_name: str = "", email: str | None = None, password: str | None = None
) -> Account:
    """Make an account, with a password or without one yet. Raises NameTaken, WeakPassword."""
    password_hash = None
    if password is not None:
        check_password(password, name=normalise_login(name))
        password_hash = await hash_password(password)
    return await create_account(name, role=role, display_name=display_name, email=email, password_hash=password_hash)


async def set_role(account: Account, role: Role) -> Account:
    """Give an account another role, from its next request on. Raises LastAdministrator."""
    return await change_account(account.id, lambda one: msgspec.structs.replace(one, role=role))


async def disable_account(account: Account) -> Account:
    """Close an account: its sessions are over for good, its tokens do not work. Raises LastAdministrator."""
    return await change_account(
        account.id, lambda one: with_sessions_ended(msgspec.structs.replace(one, is_disabled=True))
    )


async def enable_account(account: Account) -> Account:
    """Open an account again. Tokens that were not revoked work again; sessions have to be opened anew."""
    return await change_account(account.id, lambda one: msgspec.structs.replace(one, is_disabled=False))


async def reset_password(account: Account, *, also_second_factor: bool = False) -> str:
    """Take an account's password away and end its sessions. Returns the path of the link that sets a new one."""
    await change_account(account.id, lambda one: _without_password(one, also_second_factor=also_second_factor))
    return await offer_password_link(account)


def _without_password(account: Account, *, also_second_factor: bool) -> Account:
    totp = None if also_second_factor else account.totp
    return with_sessions_ended(msgspec.structs.replace(account, password_hash=None, totp=totp))


async def set_password(account: Account, password: str) -> Account:
    """Set an account's password and end its sessions. Raises WeakPassword."""
    check_password(password, name=account.name)
    password_hash = await hash_password(password)
    return await change_account(
        account.id, lambda one: with_sessions_ended(msgspec.structs.replace(one, password_hash=password_hash))
    )


async def change_own_password(
    account: Account, *, current: str, password: str, user_agent: str, address: str
) -> OpenedSession:
    """Change a password by who knows the present one. Every session is over; the one that is returned is new."""
    await prove_password(account, current)
    check_password(password, name=account.name)
    password_hash = await hash_password(password)
    opened = new_session(with_sessions_ended(account), user_agent=user_agent, address=address)

    def changed(one: Account) -> Account:
        if one.session_epoch != account.session_epoch:
            raise SignInRequired("You were signed out meanwhile. Sign in again.")
        return with_sessions_ended(msgspec.structs.replace(one, password_hash=password_hash))

    await change_account(account.id, changed, also=opened.operations)
    return opened.opened


async def prove_password(account: Account, password: str) -> None:
    """Raise InvalidInput unless this is the account's password."""
    if not await verify_password(password, account.password_hash):
        raise InvalidInput("That is not your present password.")


async def change_profile(account: Account, *, display_name: str, email: str | None) -> Account:
    """Change what others see of an account, and the address that nobody but its owner and administrators sees."""
    shown, address = check_display_name(display_name) or account.name, check_email(email)
    return await change_account(account.id, lambda one: msgspec.structs.replace(one, display_name=shown, email=address))
