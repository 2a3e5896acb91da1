"""Signing in, out and up through the pages, as a browser without scripts does."""

from __future__ import annotations

import asyncio
import re
from typing import Any, cast

import httpx
import msgspec
import pyotp
import pytest

from vskill_platform.accounts.first_run import offer_first_run
from vskill_platform.accounts.passwords import hash_password
from vskill_platform.accounts.totp import new_codes
from vskill_platform.domain.access import Role
from vskill_platform.domain.account import Account
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.accounts import change_account, list_accounts
from vskill_platform.testing.accounts import in_request, make_account, make_session, sign_in
from vskill_platform.testing.clock import FakeClock
from vskill_platform.web.app import create_web_app
from vskill_platform.web.pages.signing_in import own_path
from vskill_platform.web.secure_sessions import SESSION_COOKIE

PASSWORD = "grey otters swim upstream"
HTML = {"Accept": "text/html"}


@pytest.fixture
async def rita(env: WorkerEnv) -> Account:
    return await make_account(env, "rita", Role.SUPER_ADMIN, password_hash=await hash_password(PASSWORD))


async def enter(client: httpx.AsyncClient, *, password: str = PASSWORD, wanted: str = "") -> httpx.Response:
    return await client.post("/login", data={"name": "rita", "password": password, "next": wanted})


async def test_login_signs_in_and_leads_on__with_the_right_password(client: httpx.AsyncClient, rita: Account) -> None:
    answer = await enter(client, wanted="/admin/accounts?x=1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/admin/accounts?x=1")
    assert answer.headers["cache-control"] == "no-store"
    cookie = next(one for one in answer.headers.get_list("set-cookie") if one.startswith(SESSION_COOKIE))
    assert {"HttpOnly", "Secure", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    assert "Domain" not in cookie
    page = await client.get("/account", headers=HTML)
    assert page.status_code == 200
    assert page.headers["cache-control"] == "no-store"
    assert "rita" in page.text


async def test_login_says_the_same_beside_the_form__for_unknown_and_wrong(
    client: httpx.AsyncClient, rita: Account
) -> None:
    pages = []
    for name in ("rita", "bobo"):
        answer = await client.post("/login", data={"name": name, "password": "not the password"})
        assert answer.status_code == 401
        assert not answer.headers.get_list("set-cookie")
        assert "not the password" not in answer.text
        pages.append(answer.text.replace(name, ""))
    assert pages[0] == pages[1]
    assert "The name or the password is wrong." in pages[0]


async def test_login_takes_no_session_that_was_handed_in__so_that_nobody_can_fix_one(
    client: httpx.AsyncClient, env: WorkerEnv, rita: Account
) -> None:
    planted = await make_session(env, await make_account(env, "mallory"))
    client.cookies.set(SESSION_COOKIE, planted, domain="registry.local", path="/")
    answer = await enter(client)
    assert answer.status_code == 303
    assert client.cookies[SESSION_COOKIE] != planted
    assert (await client.get("/api/v1/account")).json()["name"] == "rita"
    client.cookies.clear()
    sign_in(client, planted)
    assert (await client.get("/api/v1/account")).status_code == 401


@pytest.mark.parametrize(
    "wanted",
    ["", "https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)",
     "/a\nb", "/\t/evil.example", "evil", "/ä"],
)  # fmt: skip
def test_own_path_leads_to_no_other_site(wanted: str) -> None:
    assert own_path(wanted) == "/account"


async def test_logout_ends_the_session_and_removes_the_cookies(client: httpx.AsyncClient, rita: Account) -> None:
    await enter(client)
    secret = client.cookies[SESSION_COOKIE]
    answer = await client.post("/logout")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert SESSION_COOKIE not in client.cookies
    sign_in(client, secret)
    assert (await client.get("/api/v1/account")).status_code == 401


async def test_login_asks_for_a_code__where_there_is_a_second_factor(
    client: httpx.AsyncClient, env: WorkerEnv, clock: FakeClock, rita: Account
) -> None:
    codes = msgspec.structs.replace(new_codes(), is_confirmed=True)
    await in_request(env, lambda: change_account(rita.id, lambda one: msgspec.structs.replace(one, totp=codes)))
    half = await enter(client, wanted="/skills")
    assert half.status_code == 200
    assert "/login/code" in half.text
    assert (await client.get("/api/v1/account")).status_code == 401
    wrong = await client.post("/login/code", data={"code": "000000", "next": "/skills"})
    assert wrong.status_code == 401
    code = pyotp.TOTP(codes.secret).at(clock.now_ms() // 1000)
    right = await client.post("/login/code", data={"code": code, "next": "/skills"})
    assert (right.status_code, right.headers["location"]) == (303, "/skills")
    assert (await client.get("/api/v1/account")).json()["hasSecondFactor"] is True


async def test_setup_makes_the_first_administrator__once_of_two_at_the_same_time(
    client: httpx.AsyncClient, env: WorkerEnv
) -> None:
    path = await in_request(env, offer_first_run)
    assert path is not None
    page = await client.get(path, headers=HTML)
    assert page.status_code == 200
    token = path.partition("token=")[2]
    forms = [{"token": token, "name": f"rita{number}", "password": PASSWORD, "again": PASSWORD} for number in range(2)]
    answers = await asyncio.gather(*(client.post("/setup", data=form) for form in forms))
    assert sorted(answer.status_code for answer in answers) == [303, 410]
    assert [account.role for account in await in_request(env, list_accounts)] == [Role.SUPER_ADMIN]
    assert (await client.get(path, headers=HTML)).status_code == 410


async def test_setup_says_what_is_wrong__and_the_link_still_works(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    path = await in_request(env, offer_first_run)
    assert path is not None
    token = path.partition("token=")[2]
    form = {"token": token, "name": "rita", "password": PASSWORD, "again": "another"}
    assert "not the same" in (await client.post("/setup", data=form)).text
    weak = await client.post("/setup", data={**form, "password": "password1234", "again": "password1234"})
    assert weak.status_code == 400
    assert (await client.post("/setup", data={**form, "again": PASSWORD})).status_code == 303


async def test_page_for_members_shows_the_way_in__to_who_is_not_signed_in(client: httpx.AsyncClient) -> None:
    answer = await client.get("/account", headers=HTML)
    assert answer.status_code == 401
    assert re.search(r'href="/login\?next=/account"', answer.text)


async def test_pages_are_the_same_for_everybody__and_the_menu_comes_apart(
    client: httpx.AsyncClient, env: WorkerEnv, rita: Account
) -> None:
    before = [(await client.get("/skills", headers=HTML)).text for _ in range(3)]
    assert "Sign in" in (await client.get("/account/menu")).text
    await enter(client)
    after = [(await client.get("/skills", headers=HTML)).text for _ in range(3)]
    assert set(before) == set(after)
    menu = await client.get("/account/menu")
    assert menu.headers["cache-control"] == "no-store"
    assert "rita" in menu.text
    assert "/admin" in menu.text


async def test_login_and_setup_are_refused_with_the_reason__over_plain_http(env: WorkerEnv) -> None:
    path = await in_request(env, offer_first_run)
    transport = httpx.ASGITransport(app=cast("Any", create_web_app(env)))
    async with httpx.AsyncClient(transport=transport, base_url="http://registry.example", headers=HTML) as plain:
        for answer in (await plain.get("/login"), await plain.get(str(path)), await plain.post("/login", data={})):
            assert answer.status_code == 403
            assert "needs HTTPS" in answer.text
