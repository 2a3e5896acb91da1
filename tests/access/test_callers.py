"""Who makes a request: by a session, by a token, or nobody; and what a credential that is worth nothing is answered with."""

from __future__ import annotations

import httpx
import pytest

from vskill_platform.domain.access import Role, Scope
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.sessions import end_session, end_sessions
from vskill_platform.stores.tokens import list_tokens_of, revoke_token
from vskill_platform.testing.accounts import in_request, make_account, make_session, make_token, sign_in
from vskill_platform.testing.clock import FakeClock

READ = "/api/v1/admin/stuck"
WRITE = "/api/v1/admin/queue/pause"
BODY = {"reason": "A test", "seconds": 60}


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


async def test_session_and_token_open_what_their_role_may(env: WorkerEnv, client: httpx.AsyncClient) -> None:
    bob = await make_account(env, "bob", Role.REVIEWER)
    assert refusal(await client.get(READ)) == (401, "sign_in_required")
    bearer = {"Authorization": f"Bearer {await make_token(env, bob, Scope.REVIEW)}"}
    assert (await client.get(READ, headers=bearer)).status_code == 200
    assert (await client.post(WRITE, json=BODY, headers=bearer)).status_code == 200
    sign_in(client, await make_session(env, bob))
    assert (await client.get(READ)).status_code == 200
    assert (await client.post(WRITE, json=BODY)).status_code == 200


async def test_token_is_held_to_its_scopes__whatever_its_account_may(env: WorkerEnv, client: httpx.AsyncClient) -> None:
    boss = await make_account(env, "boss", Role.SUPER_ADMIN)
    bearer = {"Authorization": f"bearer {await make_token(env, boss, Scope.READ)}"}
    assert (await client.get(READ, headers=bearer)).status_code == 200
    assert refusal(await client.post(WRITE, json=BODY, headers=bearer)) == (403, "not_allowed")


async def test_token_counts__where_a_session_comes_with_it(env: WorkerEnv, client: httpx.AsyncClient) -> None:
    boss = await make_account(env, "boss", Role.SUPER_ADMIN)
    submitter = await make_account(env, "sue")
    sign_in(client, await make_session(env, boss))
    weak = {"Authorization": f"Bearer {await make_token(env, submitter)}"}
    assert refusal(await client.post(WRITE, json=BODY, headers=weak)) == (403, "not_allowed")
    wrong = {"Authorization": "Bearer nonsense"}
    assert refusal(await client.get(READ, headers=wrong)) == (401, "credential_refused")


@pytest.mark.parametrize("given", ["Bearer", "Bearer ", "Bearer x", "Bearer vsk_" + "a" * 40, "bearer \u00e9"])
async def test_token_that_is_none_is_refused__and_never_taken_for_nobody(client: httpx.AsyncClient, given: str) -> None:
    answer = await client.get(READ, headers={"Authorization": given.encode()})
    assert answer.status_code == 401
    assert answer.json()["code"] == "credential_refused"


async def test_session_is_refused__once_it_has_ended_by_time_or_by_hand(
    env: WorkerEnv, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    bob = await make_account(env, "bob", Role.REVIEWER)
    ended, left = await make_session(env, bob), await make_session(env, bob)
    await in_request(env, lambda: end_session(ended))
    sign_in(client, ended)
    assert refusal(await client.get(READ)) == (401, "credential_refused")
    sign_in(client, left)
    assert (await client.get(READ)).status_code == 200
    clock.shift(env.settings.session_idle_s)
    assert refusal(await client.get(READ)) == (401, "credential_refused")
    sign_in(client, await make_session(env, bob))
    await in_request(env, lambda: end_sessions(bob.id))
    assert refusal(await client.get(READ)) == (401, "credential_refused")


async def test_token_is_refused_by_the_next_request__once_it_is_revoked_or_has_ended(
    env: WorkerEnv, client: httpx.AsyncClient, clock: FakeClock
) -> None:
    bob = await make_account(env, "bob", Role.REVIEWER)
    short = {"Authorization": f"Bearer {await make_token(env, bob, expires_in_days=1)}"}
    revoked = {"Authorization": f"Bearer {await make_token(env, bob)}"}
    assert (await client.get(READ, headers=revoked)).status_code == 200
    token = next(token for token in await in_request(env, lambda: list_tokens_of(bob.id)) if token.expires_at is None)
    await in_request(env, lambda: revoke_token(token.id))
    assert refusal(await client.get(READ, headers=revoked)) == (401, "credential_refused")
    assert (await client.get(READ, headers=short)).status_code == 200
    clock.shift(24 * 3600)
    assert refusal(await client.get(READ, headers=short)) == (401, "credential_refused")


async def test_public_pages_are_open__with_a_session_that_has_ended(client: httpx.AsyncClient) -> None:
    sign_in(client, "nonsense")
    assert (await client.get("/")).status_code == 200
    assert (await client.get("/api/v1/stats")).status_code == 200
