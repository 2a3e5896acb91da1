"""Setting up, confirming and removing one's second factor."""

from __future__ import annotations

import msgspec

from vskill_platform.accounts.totp import new_codes, new_recovery_codes, take_code, with_recovery_codes
from vskill_platform.domain.account import Account, OneTimeCodes
from vskill_platform.domain.errors import CodeRefused, InvalidInput
from vskill_platform.stores.accounts import change_account
from vskill_platform.worker_context import current_env


async def begin_second_factor(account: Account) -> OneTimeCodes:
    """A secret for an app. Nothing changes until a first code of it was shown. Raises InvalidInput where there is one already."""
    codes = new_codes()

    def begun(one: Account) -> Account:
        if one.needs_code:
            raise InvalidInput("This account has a second factor already. Remove it first.")
        return msgspec.structs.replace(one, totp=codes)

    await change_account(account.id, begun)
    return codes


async def confirm_second_factor(account: Account, code: str) -> list[str]:
    """Ask for codes from now on. Returns the recovery codes, which are told once. Raises InvalidInput for a wrong code."""
    given = new_recovery_codes()

    def confirmed(one: Account) -> Account:
        if one.totp is None or one.needs_code:
            raise InvalidInput("There is nothing to confirm. Begin again.")
        taken = _take(one.totp, code)
        return msgspec.structs.replace(
            one, totp=msgspec.structs.replace(with_recovery_codes(taken, given), is_confirmed=True)
        )

    await change_account(account.id, confirmed)
    return given


async def renew_recovery_codes(account: Account) -> list[str]:
    """Other recovery codes in place of those before, told once."""
    given = new_recovery_codes()

    def renewed(one: Account) -> Account:
        if one.totp is None or not one.needs_code:
            raise InvalidInput("This account has no second factor.")
        return msgspec.structs.replace(one, totp=with_recovery_codes(one.totp, given))

    await change_account(account.id, renewed)
    return given


async def remove_second_factor(account: Account) -> Account:
    """Ask for no codes any more."""
    return await change_account(account.id, lambda one: msgspec.structs.replace(one, totp=None))


def _take(codes: OneTimeCodes, code: str) -> OneTimeCodes:
    try:
        return take_code(codes, code, now_ms=current_env("clock").clock.now_ms())
    except CodeRefused as exc:
        raise InvalidInput(exc.message) from exc
