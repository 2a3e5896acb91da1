"""Signing in with an OpenID provider, a real one on loopback: what is right gets in, and nothing else does."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Callable
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
import pytest
from joserfc.jwk import ECKey, OctKey

from vskill_platform.domain.access import Role
from vskill_platform.domain.account import Account, login_from, parse_role_map
from vskill_platform.domain.errors import InvalidInput, InvalidSettings
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.settings import Settings, convert_settings
from vskill_platform.stores.accounts import find_account, list_accounts
from vskill_platform.testing.accounts import in_request, make_account
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.oidc_provider import CLIENT_ID, CLIENT_SECRET, Claims, FakeProvider
from vskill_platform.web.app import create_web_app
from vskill_platform.web.pages.oidc import STATE_COOKIE
from vskill_platform.web.secure_sessions import SESSION_COOKIE

MINE = "/api/v1/account"


@pytest.fixture
async def provider(clock: FakeClock) -> AsyncIterator[FakeProvider]:
    provider = FakeProvider(clock)
    async with provider.serve():
        yield provider


@pytest.fixture
def env(env: WorkerEnv, provider: FakeProvider) -> WorkerEnv:
    settings = convert_settings(
        {
            "oidc_issuer": provider.issuer,
            "oidc_client_id": CLIENT_ID,
            "oidc_client_secret": CLIENT_SECRET,
            "oidc_role_map": "admins=SUPER_ADMIN, reviewers=REVIEWER",
        }
    )
    return dataclasses.replace(env, settings=settings)


@pytest.fixture
async def client(env: WorkerEnv) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=cast("Any", create_web_app(env)), client=("192.0.2.1", 1))
    async with httpx.AsyncClient(transport=transport, base_url="https://registry.example") as opened:
        yield opened


async def go_to_provider(client: httpx.AsyncClient, *, wanted: str = "/skills") -> str:
    """Leave for the provider, sign in there, and say where it sends the browser."""
    left = await client.get("/login/oidc", params={"next": wanted})
    assert left.status_code == 303
    async with httpx.AsyncClient() as outside:
        back = await outside.get(left.headers["location"])
    parts = urlsplit(back.headers["location"])
    assert (parts.scheme, parts.netloc) == ("https", "registry.example")
    return f"{parts.path}?{parts.query}"


async def sign_in(client: httpx.AsyncClient) -> httpx.Response:
    return await client.get(await go_to_provider(client))


async def test_member_signs_in_and_has_the_role_of_their_groups__at_each_sign_in(
    client: httpx.AsyncClient, provider: FakeProvider, env: WorkerEnv
) -> None:
    roles = []
    for groups in (["reviewers", "others"], [], ["admins", "reviewers"]):
        provider.person["groups"] = groups
        answer = await sign_in(client)
        assert (answer.status_code, answer.headers["location"]) == (303, "/skills")
        roles.append((await client.get(MINE)).json()["role"])
    assert roles == ["REVIEWER", "SUBMITTER", "SUPER_ADMIN"]
    assert len(await in_request(env, list_accounts)) == 1


async def test_last_super_admin_keeps_the_role__when_the_groups_take_it_away(
    client: httpx.AsyncClient, provider: FakeProvider
) -> None:
    provider.person["groups"] = "admins"
    await sign_in(client)
    provider.person["groups"] = []
    assert (await sign_in(client)).status_code == 303
    assert (await client.get(MINE)).json()["role"] == "SUPER_ADMIN"


async def test_member_gets_no_account_of_the_same_name__but_one_of_their_own(
    client: httpx.AsyncClient, provider: FakeProvider, env: WorkerEnv
) -> None:
    there = await make_account(env, "rita", Role.SUPER_ADMIN)
    await sign_in(client)
    mine = (await client.get(MINE)).json()
    assert mine["id"] != there.id
    assert mine["name"].startswith("rita-")
    assert mine["role"] == "SUBMITTER"


def changed(**claims: object) -> Callable[[Claims], Claims]:
    """Claims with some of them changed; None leaves one out."""

    def change(given: Claims) -> Claims:
        return {name: value for name, value in {**given, **claims}.items() if value is not None}

    return change


async def test_id_token_is_taken__when_nothing_is_changed(client: httpx.AsyncClient, provider: FakeProvider) -> None:
    provider.change = changed(aud=[CLIENT_ID, "another"], azp=CLIENT_ID)
    assert (await sign_in(client)).status_code == 303


WRONG = {
    "another nonce": changed(nonce="another"),
    "no nonce": changed(nonce=None),
    "for another": changed(aud="another"),
    "for nobody": changed(aud=None),
    "for many": changed(aud=[CLIENT_ID, "another"]),
    "asked by another": changed(azp="another"),
    "by another": changed(iss="https://evil.example"),
    "by nobody": changed(iss=None),
    "expired": changed(exp=1),
    "endless": changed(exp=None),
    "about nobody": changed(sub=None),
    "of the future": changed(iat=99_999_999_999),
}


async def test_id_token_is_refused__when_it_is_not_for_us_here_and_now(
    client: httpx.AsyncClient, provider: FakeProvider, env: WorkerEnv
) -> None:
    for name, change in WRONG.items():
        provider.change = change
        assert await is_refused(client, env), name


async def is_refused(client: httpx.AsyncClient, env: WorkerEnv) -> bool:
    answer = await sign_in(client)
    is_outside = SESSION_COOKIE not in client.cookies and not await in_request(env, list_accounts)
    return answer.status_code == 401 and "cannot be trusted" in answer.text and is_outside


async def test_id_token_is_refused__when_the_provider_has_not_signed_it(
    client: httpx.AsyncClient, provider: FakeProvider, env: WorkerEnv
) -> None:
    provider.header = {"alg": "none"}
    assert await is_refused(client, env)
    provider.header = {"alg": "HS256"}
    provider.signed_by = cast("ECKey", OctKey.import_key(CLIENT_SECRET))
    assert await is_refused(client, env), "a secret that two have proves nothing"
    provider.header, provider.signed_by = {}, ECKey.generate_key("P-256")
    assert await is_refused(client, env)


async def test_state_is_taken_once__and_only_from_the_browser_that_began(
    client: httpx.AsyncClient, env: WorkerEnv
) -> None:
    back = await go_to_provider(client)
    state = client.cookies[STATE_COOKIE]
    del client.cookies[STATE_COOKIE]
    assert "not begun in this browser" in (await client.get(back)).text
    client.cookies.set(STATE_COOKIE, state, domain="registry.example")
    assert (await client.get(back)).status_code == 303
    client.cookies.set(STATE_COOKIE, state, domain="registry.example")
    again = await client.get(back)
    assert again.status_code == 401
    assert "was used already" in again.text


async def test_state_is_over__after_ten_minutes(client: httpx.AsyncClient, clock: FakeClock) -> None:
    back = await go_to_provider(client)
    clock.shift(600)
    assert "took too long" in (await client.get(back)).text


async def test_keys_are_asked_for_again__when_the_provider_has_new_ones_and_not_for_each_token(
    client: httpx.AsyncClient, provider: FakeProvider, clock: FakeClock
) -> None:
    await sign_in(client)
    provider.key = provider.signed_by = ECKey.generate_key("P-256", auto_kid=True)
    clock.shift(60)
    assert (await sign_in(client)).status_code == 303
    provider.header = {"kid": "made up"}
    for _ in range(3):
        assert (await sign_in(client)).status_code == 401
    assert provider.asked.count("/keys") == 2


async def test_provider_that_is_down_is_said_so__with_503(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    down = dataclasses.replace(
        env, settings=convert_settings({"oidc_issuer": "http://127.0.0.1:1", "oidc_client_id": CLIENT_ID})
    )
    transport = httpx.ASGITransport(app=cast("Any", create_web_app(down)))
    async with httpx.AsyncClient(transport=transport, base_url="https://registry.example") as other:
        answer = await other.get("/login/oidc")
    assert (answer.status_code, answer.json()["code"]) == (503, "provider_unreachable")


async def test_login_offers_the_provider__where_one_is_set_up(client: httpx.AsyncClient) -> None:
    page = await client.get("/login", params={"next": "/queue"})
    assert 'href="/login/oidc?next=/queue"' in page.text


async def test_provided_account_has_no_password__to_sign_in_with(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    await sign_in(client)
    account = await in_request(env, lambda: find_account("rita"))
    assert isinstance(account, Account)
    assert account.password_hash is None
    assert account.display_name == "Rita"


def test_role_map_is_read_when_the_process_starts__and_refused_where_it_means_nothing() -> None:
    assert parse_role_map(" a b =REVIEWER , c=SUPER_ADMIN,") == {"a b": Role.REVIEWER, "c": Role.SUPER_ADMIN}
    for wrong in ("admins", "admins=KING", "=REVIEWER"):
        with pytest.raises(InvalidInput):
            parse_role_map(wrong)
        with pytest.raises(InvalidSettings):
            convert_settings({"oidc_role_map": wrong})


def test_settings_hide_the_clients_secret__in_repr() -> None:
    assert CLIENT_SECRET not in repr(Settings(oidc_client_secret=CLIENT_SECRET))


@pytest.mark.parametrize(
    ("text", "login"),
    [("Rita R.", "rita-r"), ("Zoë", "zoe"), ("日本", "member"), ("x", "member-x"), ("a" * 60, "a" * 40)],
)
def test_login_from_makes_a_name_of_anything(text: str, login: str) -> None:
    assert login_from(text) == login
