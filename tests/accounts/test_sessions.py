"""Sessions: their secrets, their two ends, and ending them."""

from __future__ import annotations

import msgspec

from vskill_platform.accounts.identity import caller_of_session
from vskill_platform.domain.access import CallerKind, Role
from vskill_platform.domain.account import Account
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.accounts import change_account
from vskill_platform.stores.sessions import end_session, end_session_of, end_sessions, list_sessions
from vskill_platform.testing.accounts import in_request, make_account, make_session
from vskill_platform.testing.builders import collect_keys
from vskill_platform.testing.clock import FakeClock

HOUR_S, DAY_S = 3600.0, 86_400.0


async def is_signed_in(env: WorkerEnv, secret: str) -> bool:
    return await in_request(env, lambda: caller_of_session(secret)) is not None


async def test_caller_of_session_is_the_account__while_it_holds(env: WorkerEnv) -> None:
    account = await make_account(env, "Rita", Role.REVIEWER)
    secret = await make_session(env, account)
    found = await in_request(env, lambda: caller_of_session(secret))
    assert found is not None
    assert (found.kind, found.id, found.name, found.role) == (CallerKind.SESSION, account.id, "rita", Role.REVIEWER)
    assert not await is_signed_in(env, account.id)


async def test_session_keeps_no_secret__in_the_store(env: WorkerEnv) -> None:
    secret = await make_session(env, await make_account(env, "rita"))
    for key in await collect_keys(env.kv, ""):
        entry = await env.kv.get(key)
        assert entry is not None
        assert secret not in key
        assert secret.encode() not in entry.value


async def test_session_ends__when_idle_for_too_long(env: WorkerEnv, clock: FakeClock) -> None:
    secret = await make_session(env, await make_account(env, "rita"))
    clock.shift(11 * HOUR_S)
    assert await is_signed_in(env, secret)
    clock.shift(11 * HOUR_S)
    assert await is_signed_in(env, secret), "being seen has to count"
    clock.shift(12 * HOUR_S)
    assert not await is_signed_in(env, secret)


async def test_session_ends__at_its_absolute_end_however_busy(env: WorkerEnv, clock: FakeClock) -> None:
    secret = await make_session(env, await make_account(env, "rita"))
    for _ in range(7 * 4 - 1):
        clock.shift(6 * HOUR_S)
        assert await is_signed_in(env, secret)
    clock.shift(6 * HOUR_S)
    assert not await is_signed_in(env, secret)


async def test_session_is_written__once_a_minute_at_most(env: WorkerEnv, clock: FakeClock) -> None:
    secret = await make_session(env, await make_account(env, "rita"))
    before = await versions(env)
    clock.shift(59)
    assert await is_signed_in(env, secret)
    assert await versions(env) == before
    clock.shift(1)
    assert await is_signed_in(env, secret)
    assert await versions(env) != before


async def versions(env: WorkerEnv) -> list[int]:
    entries = [await env.kv.get(key) for key in await collect_keys(env.kv, "session:")]
    return [entry.version for entry in entries if entry is not None]


async def test_end_sessions_ends_all_of_one_account__and_none_of_others(env: WorkerEnv) -> None:
    rita, bob = await make_account(env, "rita"), await make_account(env, "bob")
    hers, his = [await make_session(env, rita) for _ in range(3)], await make_session(env, bob)
    changed = await in_request(env, lambda: end_sessions(rita.id))
    assert [await is_signed_in(env, secret) for secret in hers] == [False, False, False]
    assert await is_signed_in(env, his)
    assert await is_signed_in(env, await make_session(env, changed))


async def test_session_does_not_hold__while_its_account_is_disabled(env: WorkerEnv) -> None:
    account = await make_account(env, "rita")
    secret = await make_session(env, account)
    await in_request(env, lambda: change_account(account.id, disabled))
    assert not await is_signed_in(env, secret)


def disabled(account: Account) -> Account:
    return msgspec.structs.replace(account, is_disabled=True)


async def test_end_session_of_ends_the_one_that_is_named(env: WorkerEnv) -> None:
    account = await make_account(env, "rita")
    first, second = await make_session(env, account), await make_session(env, account)
    caller = await in_request(env, lambda: caller_of_session(first))
    assert caller is not None
    assert len(await in_request(env, lambda: list_sessions(account))) == 2
    await in_request(env, lambda: end_session_of(account, caller.credential))
    assert (await is_signed_in(env, first), await is_signed_in(env, second)) == (False, True)
    await in_request(env, lambda: end_session(second))
    assert not await in_request(env, lambda: list_sessions(account))
