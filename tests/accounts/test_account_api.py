"""One's own account and all accounts through the API: who may, what is told, and what the audit log has of it."""

from __future__ import annotations

from typing import Any

import httpx
import msgspec
import pyotp
import pytest

from vskill_platform.accounts.passwords import hash_password
from vskill_platform.domain.access import Role, Scope
from vskill_platform.domain.account import Account
from vskill_platform.domain.audit import AUDIT_PREFIX, AuditEntry
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.accounts import make_account, make_session, make_token, sign_in
from vskill_platform.testing.builders import collect_keys
from vskill_platform.testing.clock import FakeClock

PASSWORD = "grey otters swim upstream"
OTHER = "brown bears fish alone"
MINE = "/api/v1/account"
ALL = "/api/v1/admin/accounts"


@pytest.fixture
async def rita(env: WorkerEnv, client: httpx.AsyncClient) -> Account:
    """A super administrator who is signed in."""
    account = await make_account(env, "rita", Role.SUPER_ADMIN, password_hash=await hash_password(PASSWORD))
    sign_in(client, await make_session(env, account))
    return account


async def audit(env: WorkerEnv) -> list[AuditEntry]:
    entries = [await env.kv.get(key) for key in await collect_keys(env.kv, AUDIT_PREFIX)]
    return [msgspec.json.decode(entry.value, type=AuditEntry) for entry in entries if entry is not None]


async def post(client: httpx.AsyncClient, path: str, **body: Any) -> httpx.Response:
    return await client.post(path, json=body)


async def test_password_change_ends_other_sessions__and_rotates_this_one(
    client: httpx.AsyncClient, env: WorkerEnv, rita: Account
) -> None:
    here, elsewhere = client.headers["Cookie"], await make_session(env, rita)
    wrong = await post(client, f"{MINE}/password", current=OTHER, password=OTHER)
    assert wrong.status_code == 400
    done = await post(client, f"{MINE}/password", current=PASSWORD, password=OTHER)
    assert done.status_code == 200
    del client.headers["Cookie"]
    assert (await client.get(MINE)).json()["name"] == "rita", "the cookie that came with the answer"
    client.cookies.clear()
    for old in (here, f"__Host-session={elsewhere}"):
        assert (await client.get(MINE, headers={"Cookie": old})).status_code == 401
    assert [entry.act for entry in await audit(env)] == ["account.password"]
    assert not [secret for secret in (PASSWORD, OTHER) if secret in str(await audit(env))]


async def test_second_factor_is_asked_for__once_a_code_has_confirmed_it(
    client: httpx.AsyncClient, clock: FakeClock, rita: Account
) -> None:
    begun = (await post(client, f"{MINE}/second-factor", password=PASSWORD)).json()
    assert begun["picture"].startswith("data:image/svg+xml")
    assert (await client.get(MINE)).json()["hasSecondFactor"] is False
    assert (await post(client, f"{MINE}/second-factor/confirm", code="000000")).status_code == 400
    code = pyotp.TOTP(begun["secret"]).at(clock.now_ms() // 1000)
    confirmed = (await post(client, f"{MINE}/second-factor/confirm", code=code)).json()
    assert len(set(confirmed["recoveryCodes"])) == 10
    assert (await client.get(MINE)).json()["hasSecondFactor"] is True
    assert (await post(client, f"{MINE}/second-factor", password=PASSWORD)).status_code == 400
    assert (await post(client, f"{MINE}/second-factor/remove", password=OTHER)).status_code == 400
    assert (await post(client, f"{MINE}/second-factor/remove", password=PASSWORD)).status_code == 200
    assert (await client.get(MINE)).json()["hasSecondFactor"] is False


async def test_token_is_told_once__works_and_is_revoked_at_once(client: httpx.AsyncClient, rita: Account) -> None:
    made = (await post(client, f"{MINE}/tokens", name="ci", scopes=["manage"])).json()
    text, identity = made["text"], made["token"]["id"]
    listed = await client.get(f"{MINE}/tokens")
    assert text not in listed.text
    assert listed.headers["cache-control"] == "no-store"
    bearer = {"Authorization": f"Bearer {text}", "Cookie": ""}
    assert (await client.get(MINE, headers=bearer)).json()["name"] == "rita"
    assert (await client.delete(f"{MINE}/tokens/{identity}")).status_code == 200
    assert (await client.get(MINE, headers=bearer)).status_code == 401


async def test_token_changes_no_account__whatever_its_scopes(
    client: httpx.AsyncClient, env: WorkerEnv, rita: Account
) -> None:
    bearer = {"Authorization": f"Bearer {await make_token(env, rita)}", "Cookie": ""}
    for method, path, body in (
        ("PUT", MINE, {"displayName": "Mallory"}),
        ("POST", f"{MINE}/password", {"current": PASSWORD, "password": OTHER}),
        ("POST", f"{MINE}/second-factor", {"password": PASSWORD}),
        ("POST", f"{MINE}/tokens", {"name": "more", "scopes": ["admin"]}),
        ("DELETE", f"{MINE}/sessions", None),
        ("GET", f"{MINE}/tokens", None),
    ):
        assert (await client.request(method, path, json=body, headers=bearer)).status_code == 403, path


async def test_sessions_are_listed_and_ended__one_or_all(
    client: httpx.AsyncClient, env: WorkerEnv, rita: Account
) -> None:
    other = await make_session(env, rita)
    listed = (await client.get(f"{MINE}/sessions")).json()
    assert sorted(one["isThis"] for one in listed) == [False, True]
    away = next(one["id"] for one in listed if not one["isThis"])
    assert (await client.delete(f"{MINE}/sessions/{away}")).status_code == 200
    assert (await client.get(MINE, headers={"Cookie": f"__Host-session={other}"})).status_code == 401
    assert (await client.delete(f"{MINE}/sessions")).status_code == 200
    assert (await client.get(MINE)).status_code == 401


async def test_session_of_another_is_not_there__for_who_would_end_it(
    client: httpx.AsyncClient, env: WorkerEnv, rita: Account
) -> None:
    bob = await make_account(env, "bob")
    his = await make_session(env, bob)
    async with httpx.AsyncClient(transport=client._transport, base_url="https://registry") as other:
        sign_in(other, his)
        identity = (await other.get(f"{MINE}/sessions")).json()[0]["id"]
        assert (await client.delete(f"{MINE}/sessions/{identity}")).status_code == 404
        assert (await other.get(MINE)).status_code == 200


async def test_accounts_are_managed__by_a_super_admin_and_told_in_the_audit_log(
    client: httpx.AsyncClient, env: WorkerEnv, rita: Account
) -> None:
    made = await post(client, ALL, name="bob", role="REVIEWER", reason="Has joined")
    assert made.status_code == 201
    assert made.json()["link"].startswith("/setup?token=")
    assert (await post(client, ALL, name="BOB", reason="Again")).status_code == 409
    assert (await post(client, f"{ALL}/bob/role", role="AUDITOR", reason=" ")).status_code == 400
    for verb, body in (
        ("role", {"role": "AUDITOR"}),
        ("end-sessions", {}),
        ("reset-password", {}),
        ("disable", {}),
        ("enable", {}),
    ):
        done = await post(client, f"{ALL}/bob/{verb}", reason="A test", **body)
        assert done.status_code == 200, verb
    found = {one["name"]: one for one in (await client.get(ALL)).json()}
    assert found["bob"]["role"] == "AUDITOR"
    acts = [(entry.act, entry.actor, entry.subject) for entry in await audit(env)]
    assert ("account.role", "rita", "bob") in acts
    assert ("account.disable", "rita", "bob") in acts


async def test_last_super_admin_cannot_be_demoted_or_disabled(client: httpx.AsyncClient, rita: Account) -> None:
    assert (await post(client, f"{ALL}/rita/role", role="AUDITOR", reason="A test")).status_code == 409
    answer = await post(client, f"{ALL}/rita/disable", reason="A test")
    assert answer.status_code == 409
    assert answer.json()["code"] == "last_administrator"


async def test_tokens_of_all_are_listed_and_revoked__by_a_super_admin(
    client: httpx.AsyncClient, env: WorkerEnv, rita: Account
) -> None:
    text = await make_token(env, await make_account(env, "bob"), Scope.MANAGE)
    listed = (await client.get("/api/v1/admin/tokens")).json()
    assert [(one["account"], one["isLive"]) for one in listed] == [("bob", True)]
    done = await post(client, f"/api/v1/admin/tokens/{listed[0]['id']}/revoke", reason="It leaked")
    assert done.json()["isLive"] is False
    bearer = {"Authorization": f"Bearer {text}", "Cookie": ""}
    assert (await client.get(MINE, headers=bearer)).status_code == 401


async def test_page_of_accounts_shows_everybody__to_a_super_admin_alone(
    client: httpx.AsyncClient, env: WorkerEnv, rita: Account
) -> None:
    reviewer = await make_account(env, "bob", Role.REVIEWER)
    await make_token(env, reviewer, name="<b>bold</b>")
    page = await client.get("/admin/accounts", headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert "&lt;b&gt;bold" in page.text
    sign_in(client, await make_session(env, reviewer))
    assert (await client.get("/admin/accounts")).status_code == 403
