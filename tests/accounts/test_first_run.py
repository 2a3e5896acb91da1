"""Links that set a password: the first administrator's, and those after a reset. Each works once."""

from __future__ import annotations

import asyncio

import pytest

from vskill_platform.accounts.first_run import offer_first_run, offer_password_link, open_link, use_link
from vskill_platform.accounts.identity import caller_of_session
from vskill_platform.accounts.passwords import verify_password
from vskill_platform.domain.access import Role
from vskill_platform.domain.account import Account
from vskill_platform.domain.errors import LinkSpent, WeakPassword
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.accounts import list_accounts
from vskill_platform.testing.accounts import in_request, make_account, make_session
from vskill_platform.testing.builders import collect_keys
from vskill_platform.testing.clock import FakeClock

PASSWORD = "grey otters swim upstream"


async def first_link(env: WorkerEnv) -> str:
    path = await in_request(env, offer_first_run)
    assert path is not None
    return path.partition("token=")[2]


async def use(env: WorkerEnv, secret: str, *, name: str = "rita", password: str = PASSWORD) -> Account:
    return await in_request(env, lambda: use_link(secret, name=name, password=password))


async def test_first_link_makes_the_super_admin__and_no_other_comes_after(env: WorkerEnv) -> None:
    secret, another = await first_link(env), await first_link(env)
    account = await use(env, secret)
    assert (account.name, account.role) == ("rita", Role.SUPER_ADMIN)
    assert await verify_password(PASSWORD, account.password_hash)
    for spent in (secret, another):
        with pytest.raises(LinkSpent):
            await use(env, spent, name="bob")
    assert await in_request(env, offer_first_run) is None


@pytest.mark.parametrize("links", [1, 2])
async def test_first_link_makes_one_account__when_many_use_it_at_once(env: WorkerEnv, links: int) -> None:
    secrets = [await first_link(env) for _ in range(links)]
    tries = [use(env, secrets[number % links], name=f"rita{number}") for number in range(4)]
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(outcome, Account) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, LinkSpent) for outcome in outcomes) == 3
    assert len(await in_request(env, list_accounts)) == 1


async def test_link_is_over__after_its_time_and_kept_by_its_hash_alone(env: WorkerEnv, clock: FakeClock) -> None:
    secret = await first_link(env)
    assert not [key for key in await collect_keys(env.kv, "") if secret in key]
    await in_request(env, lambda: open_link(secret))
    clock.shift(3600)
    with pytest.raises(LinkSpent):
        await in_request(env, lambda: open_link(secret))


async def test_link_stays__when_the_password_was_refused(env: WorkerEnv) -> None:
    secret = await first_link(env)
    with pytest.raises(WeakPassword):
        await use(env, secret, password="password1234")
    assert await use(env, secret)


async def test_password_link_sets_the_password_once__and_ends_all_sessions(env: WorkerEnv) -> None:
    account = await make_account(env, "rita")
    session = await make_session(env, account)
    path = await in_request(env, lambda: offer_password_link(account))
    secret = path.partition("token=")[2]
    changed = await use(env, secret, name="somebody else")
    assert changed.id == account.id
    assert await verify_password(PASSWORD, changed.password_hash)
    assert await in_request(env, lambda: caller_of_session(session)) is None
    with pytest.raises(LinkSpent):
        await use(env, secret)
