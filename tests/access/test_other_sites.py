"""Writes that another site has set off, and answers that are one person's."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from litestar import Request, get
from litestar.datastructures import State

from tests.access.conftest import HOST, client_of
from vskill_platform.domain.access import Role
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.pause import PAUSE_KEY
from vskill_platform.testing.accounts import make_account, make_session, make_token
from vskill_platform.web.access import ACCESS, ANYONE, caller_of
from vskill_platform.web.application import create_app
from vskill_platform.web.secure_sessions import SESSION_COOKIE
from vskill_platform.web.surface.kept_answers import KEPT

WRITE = "/api/v1/admin/queue/pause"
READ = "/api/v1/admin/stuck"
BODY = {"reason": "A test", "seconds": 60}
OWN = f"https://{HOST}"

REFUSED = {
    "another site": {"Sec-Fetch-Site": "cross-site"},
    "another subdomain": {"Sec-Fetch-Site": "same-site"},
    "another site by its origin": {"Origin": "https://evil.example"},
    "a subdomain by its origin": {"Origin": f"https://evil.{HOST}"},
    "our host without TLS": {"Origin": f"http://{HOST}"},
    "another port": {"Origin": f"{OWN}:8443"},
    "no origin at all": {"Origin": "null"},
    "a word that no browser says": {"Sec-Fetch-Site": "own-site"},
    "own origin, but the browser says otherwise": {"Origin": OWN, "Sec-Fetch-Site": "cross-site"},
    "neither header": {},
}
TAKEN = {
    "this site": {"Sec-Fetch-Site": "same-origin"},
    "this site by its origin": {"Origin": OWN},
    "this site by both": {"Origin": OWN, "Sec-Fetch-Site": "same-origin"},
}


@pytest.fixture
async def cookie(env: WorkerEnv) -> dict[str, str]:
    secret = await make_session(env, await make_account(env, "boss", Role.SUPER_ADMIN))
    return {"Cookie": f"theme=dark; {SESSION_COOKIE}={secret}"}


@pytest.mark.parametrize("headers", REFUSED.values(), ids=REFUSED)
async def test_write_with_a_session_is_refused__unless_a_page_of_ours_sent_it(
    env: WorkerEnv, client: httpx.AsyncClient, cookie: dict[str, str], headers: dict[str, str]
) -> None:
    answer = await client.post(WRITE, json=BODY, headers=cookie | headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "cross_site_refused")
    assert await env.kv.get(PAUSE_KEY) is None


@pytest.mark.parametrize("headers", TAKEN.values(), ids=TAKEN)
async def test_write_with_a_session_is_taken__from_a_page_of_ours(
    client: httpx.AsyncClient, cookie: dict[str, str], headers: dict[str, str]
) -> None:
    assert (await client.post(WRITE, json=BODY, headers=cookie | headers)).status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
async def test_write_is_refused__in_a_form_that_needs_no_preflight(
    env: WorkerEnv, client: httpx.AsyncClient, cookie: dict[str, str], kind: str
) -> None:
    headers = cookie | TAKEN["this site"] | {"Content-Type": kind}
    answer = await client.post(WRITE, content=b'{"reason": "A test"}', headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_content_type")
    assert await env.kv.get(PAUSE_KEY) is None


async def test_write_with_a_token_is_taken__from_a_program_that_says_nothing_of_origins(
    env: WorkerEnv, client: httpx.AsyncClient, cookie: dict[str, str]
) -> None:
    token = await make_token(env, await make_account(env, "robot", Role.SUPER_ADMIN))
    bearer = {"Authorization": f"Bearer {token}"}
    assert (await client.post(WRITE, json=BODY, headers=bearer)).status_code == 200
    assert (await client.post(WRITE, json=BODY, headers=bearer | cookie)).status_code == 200
    from_elsewhere = bearer | {"Sec-Fetch-Site": "cross-site"}
    assert (await client.post(WRITE, json=BODY, headers=from_elsewhere)).status_code == 403


@pytest.mark.parametrize("path", [READ, WRITE, "/admin/queue", "/api/v1/admin/nothing", "/account", "/api/v1/account"])
async def test_personal_answers_are_kept_by_nobody_and_shared_with_no_origin(
    client: httpx.AsyncClient, cookie: dict[str, str], path: str
) -> None:
    for headers in ({}, cookie, cookie | {"Origin": "https://evil.example"}):
        for method in ("GET", "HEAD"):
            answer = await client.request(method, path, headers=headers)
            assert answer.headers["Cache-Control"] == "no-store", (method, path, answer.status_code)
            assert "Access-Control-Allow-Origin" not in answer.headers
            assert "ETag" not in answer.headers
            assert answer.headers["X-Frame-Options"] == "DENY"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "GET"}
    preflight = await client.options(path, headers=asked)
    assert "Access-Control-Allow-Methods" not in preflight.headers
    assert "Access-Control-Allow-Origin" not in preflight.headers


async def test_answer_to_somebody_is_neither_kept_nor_taken_from_what_is_kept(
    env: WorkerEnv, cookie: dict[str, str]
) -> None:
    @get("/greeting", opt={ACCESS: ANYONE, KEPT: True}, media_type="text/plain")
    async def greet(request: Request[Any, Any, State]) -> str:
        return f"Hello {caller_of(request).name or 'stranger'}"

    async with client_of(create_app(env, [greet], state={})) as client:
        for _ in range(3):
            assert (await client.get("/greeting")).text == "Hello stranger"
            mine = await client.get("/greeting", headers=cookie)
            assert (mine.text, mine.headers["Cache-Control"]) == ("Hello boss", "private, no-cache")
