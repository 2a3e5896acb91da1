"""API tokens: their form, their ends, and revoking them."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from vskill_platform.accounts.identity import caller_of_token
from vskill_platform.domain.access import Caller, CallerKind, Role, Scope
from vskill_platform.domain.errors import InvalidInput, NotFound
from vskill_platform.domain.token_text import is_token_text
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.kv import Entry, Page
from vskill_platform.stores.accounts import change_account
from vskill_platform.stores.tokens import create_token, list_tokens_of, revoke_token
from vskill_platform.testing.accounts import in_request, make_account, make_token
from vskill_platform.testing.builders import collect_keys
from vskill_platform.testing.clock import FakeClock


class ShutKV:
    """A store that nobody may ask."""

    async def get(self, key: str) -> Entry | None:
        raise AssertionError(f"the store was asked for {key}")

    async def list(self, prefix: str, *, cursor: str | None = None, limit: int = 1) -> Page:
        raise AssertionError(f"the store was asked for {prefix}")


async def caller(env: WorkerEnv, text: str) -> Caller | None:
    return await in_request(env, lambda: caller_of_token(text))


async def test_caller_of_token_has_role_and_scopes__while_it_holds(env: WorkerEnv) -> None:
    account = await make_account(env, "rita", Role.REVIEWER)
    text = await make_token(env, account, Scope.READ, Scope.SUBMIT)
    found = await caller(env, text)
    assert found is not None
    assert (found.kind, found.id, found.role) == (CallerKind.TOKEN, account.id, Role.REVIEWER)
    assert found.scopes == {Scope.READ, Scope.SUBMIT}
    assert text not in repr(found)


async def test_token_has_a_mark_and_a_checksum__that_any_change_breaks(env: WorkerEnv) -> None:
    text = await make_token(env, await make_account(env, "rita"))
    assert text.startswith("vsk_")
    assert is_token_text(text)
    for place in range(4, len(text)):
        other = "b" if text[place] == "a" else "a"
        assert not is_token_text(text[:place] + other + text[place + 1 :])


async def test_caller_of_token_asks_no_store__when_the_checksum_is_wrong(env: WorkerEnv) -> None:
    text = await make_token(env, await make_account(env, "rita"))
    shut = dataclasses.replace(env, kv=ShutKV())
    wrong = text[:-1] + ("b" if text[-1] == "a" else "a")
    for given in (wrong, "", "vsk_", "x" * 500, text + "a", f"{text}\n"):
        assert await caller(shut, given) is None
    with pytest.raises(AssertionError):
        await caller(shut, text)


async def test_token_is_kept_by_its_hash_alone__in_the_store(env: WorkerEnv) -> None:
    text = await make_token(env, await make_account(env, "rita"))
    for key in await collect_keys(env.kv, ""):
        entry = await env.kv.get(key)
        assert entry is not None
        assert text not in key
        assert text.encode() not in entry.value


async def test_token_ends__when_it_is_revoked_or_its_time_has_come(env: WorkerEnv, clock: FakeClock) -> None:
    account = await make_account(env, "rita")
    lasting, short = await make_token(env, account), await make_token(env, account, expires_in_days=1)
    clock.shift(86_399)
    assert await caller(env, short) is not None
    clock.shift(1)
    assert await caller(env, short) is None
    found = await caller(env, lasting)
    assert found is not None
    await in_request(env, lambda: revoke_token(found.credential))
    assert await caller(env, lasting) is None


async def test_token_does_not_hold__while_its_account_is_disabled(env: WorkerEnv) -> None:
    account = await make_account(env, "rita")
    text = await make_token(env, account)
    await in_request(
        env, lambda: change_account(account.id, lambda one: msgspec.structs.replace(one, is_disabled=True))
    )
    assert await caller(env, text) is None


async def test_revoke_token_refuses_another_accounts__as_if_there_were_none(env: WorkerEnv) -> None:
    rita, bob = await make_account(env, "rita"), await make_account(env, "bob")
    text = await make_token(env, rita)
    found = await caller(env, text)
    assert found is not None
    with pytest.raises(NotFound):
        await in_request(env, lambda: revoke_token(found.credential, account_id=bob.id))
    assert await caller(env, text) is not None


async def test_last_use_is_written__once_a_minute_at_most(env: WorkerEnv, clock: FakeClock) -> None:
    account = await make_account(env, "rita")
    text = await make_token(env, account)
    used = []
    for seconds in (0, 59, 1):
        clock.shift(seconds)
        assert await caller(env, text) is not None
        used.append((await in_request(env, lambda: list_tokens_of(account.id)))[0].last_used_at)
    assert used[0] == used[1]
    assert used[1] != used[2]


async def test_create_token_refuses__what_has_no_name_scope_or_possible_end(env: WorkerEnv) -> None:
    account = await make_account(env, "rita")
    for name, scopes, days in (("", [Scope.READ], None), ("ci", [], None), ("ci", [Scope.READ], 0.0)):
        with pytest.raises(InvalidInput):
            await in_request(
                env,
                lambda name=name, scopes=scopes, days=days: create_token(  # type: ignore[misc]
                    account, name=name, scopes=scopes, expires_in_days=days
                ),
            )
