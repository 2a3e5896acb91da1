"""Erasing an e-mail address from everything that the registry holds: accounts, and what was left with submissions."""

from __future__ import annotations

import msgspec

from vskill_platform.domain.account import Account
from vskill_platform.domain.contact import same_address
from vskill_platform.stores.accounts import change_account, list_accounts
from vskill_platform.stores.contacts import erase_address
from vskill_platform.stores.reads import require_complete


async def erase_email(address: str) -> int:
    """Erase an address. Gives from how many records. Raises StoreUnavailable unless everything could be looked through.

    Accounts stay; what an OpenID provider says at the next time of signing in is the provider's to change.
    """
    accounts = [
        one for one in require_complete(await list_accounts()) if one.email and same_address(one.email, address)
    ]
    for account in accounts:
        await change_account(account.id, _without_email)
    return len(accounts) + await erase_address(address)


def _without_email(account: Account) -> Account:
    return msgspec.structs.replace(account, email=None)
