"""Two processes on one PostgreSQL: what one ends is over for the other at once, and of two who want the same one gets it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from vskill_platform.accounts.first_run import offer_first_run, use_link
from vskill_platform.accounts.identity import caller_of_session, caller_of_token
from vskill_platform.accounts.managing import disable_account, set_role
from vskill_platform.domain.access import Role
from vskill_platform.domain.account import Account
from vskill_platform.domain.errors import LastAdministrator, LinkSpent, NameTaken
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.accounts import super_admins
from vskill_platform.stores.sessions import end_session, end_sessions
from vskill_platform.stores.tokens import revoke_token
from vskill_platform.testing.accounts import in_request, make_account, make_session, make_token
from vskill_platform.testing.envs import make_env


@pytest.fixture
async def pair(postgres_url: str, tmp_path: Path) -> AsyncIterator[tuple[WorkerEnv, WorkerEnv]]:
    """The envs of two processes."""
    one, other = await open_postgres(postgres_url), await open_postgres(postgres_url)
    yield (
        make_env(one, clock=SystemClock(), folder=tmp_path / "one"),
        make_env(other, clock=SystemClock(), folder=tmp_path / "other"),
    )
    await one.close()
    await other.close()


async def knows_token(env: WorkerEnv, text: str) -> str | None:
    caller = await in_request(env, lambda: caller_of_token(text))
    return None if caller is None else caller.credential


async def knows_session(env: WorkerEnv, secret: str) -> bool:
    return await in_request(env, lambda: caller_of_session(secret)) is not None


async def test_token_is_refused_by_the_other_process_at_once__after_it_was_revoked(
    pair: tuple[WorkerEnv, WorkerEnv],
) -> None:
    one, other = pair
    text = await make_token(one, await make_account(one, "rita"))
    for _ in range(3):
        identity = await knows_token(other, text)
        assert identity is not None, "in use, so that a cache would have it"
    await in_request(one, lambda: revoke_token(identity))
    assert await knows_token(other, text) is None


async def test_sessions_are_over_in_the_other_process_at_once__ended_one_by_one_or_all_or_with_the_account(
    pair: tuple[WorkerEnv, WorkerEnv],
) -> None:
    one, other = pair
    account = await make_account(one, "rita")
    secrets = [await make_session(one, account) for _ in range(3)]
    text = await make_token(one, account)
    assert [await knows_session(other, secret) for secret in secrets] == [True, True, True]
    await in_request(one, lambda: end_session(secrets[0]))
    assert [await knows_session(other, secret) for secret in secrets] == [False, True, True]
    changed = await in_request(one, lambda: end_sessions(account.id))
    assert [await knows_session(other, secret) for secret in secrets] == [False, False, False]
    fresh = await make_session(one, changed)
    assert await knows_session(other, fresh)
    await in_request(one, lambda: disable_account(account))
    assert not await knows_session(other, fresh)
    assert await knows_token(other, text) is None


async def test_create_account_lets_one_in__when_many_want_the_name_at_once(pair: tuple[WorkerEnv, WorkerEnv]) -> None:
    outcomes = await asyncio.gather(
        *(make_account(pair[number % 2], "rita") for number in range(6)), return_exceptions=True
    )
    assert sum(isinstance(outcome, Account) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, NameTaken) for outcome in outcomes) == 5


async def test_last_super_admin_stays__when_two_are_demoted_at_once(pair: tuple[WorkerEnv, WorkerEnv]) -> None:
    one, other = pair
    rita, bob = [await make_account(one, name, Role.SUPER_ADMIN) for name in ("rita", "bob")]
    outcomes = await asyncio.gather(
        in_request(one, lambda: set_role(rita, Role.SUBMITTER)),
        in_request(other, lambda: set_role(bob, Role.SUBMITTER)),
        return_exceptions=True,
    )
    assert sum(isinstance(outcome, LastAdministrator) for outcome in outcomes) == 1
    assert len(await in_request(one, super_admins)) == 1


async def test_first_link_makes_one_account__when_both_processes_are_asked_at_once(
    pair: tuple[WorkerEnv, WorkerEnv],
) -> None:
    paths = [await in_request(env, offer_first_run) for env in pair]
    secrets = [str(path).partition("token=")[2] for path in paths]
    outcomes = await asyncio.gather(
        *(
            in_request(env, partial(use_link, secret, name=f"rita{number}", password="grey otters swim upstream"))
            for number, (env, secret) in enumerate(zip(pair, secrets, strict=True))
        ),
        return_exceptions=True,
    )
    assert sum(isinstance(outcome, Account) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, LinkSpent) for outcome in outcomes) == 1
