"""Accounts: names that are unique, and the super administrator who is always left."""

from __future__ import annotations

from collections.abc import Awaitable

import msgspec
import pytest

from vskill_platform.domain.access import Role
from vskill_platform.domain.account import Account, OneTimeCodes
from vskill_platform.domain.errors import InvalidInput, LastAdministrator, NameTaken
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.accounts import change_account, find_account
from vskill_platform.testing.accounts import in_request, make_account


async def test_create_account_refuses_a_name__that_another_has_in_any_spelling(env: WorkerEnv) -> None:
    made = await make_account(env, "Rita")
    for name in ("rita", " RITA ", "ｒｉｔａ"):
        with pytest.raises(NameTaken):
            await make_account(env, name)
    assert await in_request(env, lambda: find_account("RITA")) == made


@pytest.mark.parametrize("name", ["", "ab", "a b", "a/b", "-abc", "abc.", "x" * 41, "rita\n:bob", "ритаа"])
async def test_create_account_refuses__what_is_no_name(env: WorkerEnv, name: str) -> None:
    with pytest.raises(InvalidInput):
        await make_account(env, name)


async def test_last_super_admin_stays__when_it_is_to_be_disabled(env: WorkerEnv) -> None:
    rita = await make_account(env, "rita", Role.SUPER_ADMIN)
    with pytest.raises(LastAdministrator):
        await disable(env, rita)
    bob = await make_account(env, "bob", Role.SUPER_ADMIN)
    await disable(env, rita)
    with pytest.raises(LastAdministrator):
        await demote(env, bob)


def demote(env: WorkerEnv, account: Account) -> Awaitable[Account]:
    return in_request(
        env, lambda: change_account(account.id, lambda one: msgspec.structs.replace(one, role=Role.SUBMITTER))
    )


def disable(env: WorkerEnv, account: Account) -> Awaitable[Account]:
    return in_request(
        env, lambda: change_account(account.id, lambda one: msgspec.structs.replace(one, is_disabled=True))
    )


def test_account_hides_its_secrets__in_repr() -> None:
    codes = OneTimeCodes(secret="JBSWY3DP", recovery_hashes=("f00d",))
    account = Account(
        id="usr_1",
        name="rita",
        display_name="Rita",
        role=Role.SUBMITTER,
        created_at="",
        updated_at="",
        password_hash="argon",
        totp=codes,
    )
    shown = f"{account!r} {account} {codes}"
    assert "rita" in shown
    assert not [secret for secret in ("JBSWY3DP", "f00d", "argon") if secret in shown]
