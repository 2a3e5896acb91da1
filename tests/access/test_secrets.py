"""A whole life of secrets, and a search for each of them wherever it must not be: logs, errors, later answers, the store."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pyotp
import pytest
import structlog
from argon2 import PasswordHasher
from litestar import Request, get
from litestar.datastructures import State

from tests.access.conftest import client_of
from vskill_platform.accounts import passwords
from vskill_platform.accounts.passwords import hash_password
from vskill_platform.cli.logs import set_up_logs
from vskill_platform.domain.access import Role
from vskill_platform.engines.memory import open_memory
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.settings import printable_settings
from vskill_platform.testing.accounts import make_account, make_session, sign_in
from vskill_platform.testing.builders import collect_keys
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.web.access import ACCESS, ANYONE
from vskill_platform.web.app import create_web_app
from vskill_platform.web.application import create_app
from vskill_platform.web.secure_sessions import SESSION_COOKIE

PASSWORD = "xyzzy grey otters recognisable"
WRONG_PASSWORD = "plugh wrong recognisable"
NEW_PASSWORD = "frobozz other otters recognisable"
CLIENT_SECRET = "client-secret-recognisable"


class Screen(io.StringIO):
    """Standard error as a terminal, on which logs are for people."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(params=["a file", "a terminal"])
def logs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Everything that is logged, as a file has it and as a terminal shows it."""
    stream = Screen() if request.param == "a terminal" else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    set_up_logs("debug")
    yield stream
    structlog.reset_defaults()


@pytest.fixture
async def env(tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[WorkerEnv]:
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=1, memory_cost=64, parallelism=1))
    engine = await open_memory(clock=clock)
    yield make_env(engine, clock=clock, folder=tmp_path, oidc_client_secret=CLIENT_SECRET, allow_private_addresses=True)
    await engine.close()


class Life:
    """Somebody who does everything that involves secrets, and notes each, and each answer that should not tell one."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client
        self.secrets: dict[str, str] = {
            "password": PASSWORD,
            "wrong password": WRONG_PASSWORD,
            "new password": NEW_PASSWORD,
        }
        self.told: list[str] = []

    async def send(self, method: str, path: str, *, tells: bool = False, **options: Any) -> httpx.Response:
        """A request; where its answer tells a secret on purpose, it is not kept for the search."""
        answer = await self.client.request(method, path, **options)
        if not tells:
            self.told.append(f"{answer.status_code} {answer.headers} {answer.text}")
        return answer

    async def live(self) -> None:
        """Sign in, change the password, take a second factor, make a token and a webhook, and sign in with all of it."""
        await self._sign_in()
        await self._take_second_factor()
        await self._make_token_and_webhook()
        await self._be_refused()

    async def _sign_in(self) -> None:
        form = {"name": "boss", "password": WRONG_PASSWORD}
        assert (await self.send("POST", "/login", data=form)).status_code in (400, 401, 403)
        entered = await self.send("POST", "/login", data={"name": "boss", "password": PASSWORD}, tells=True)
        assert entered.status_code == 303, entered.text
        self._note_session(entered)
        change = {"current": WRONG_PASSWORD, "password": NEW_PASSWORD}
        assert (await self.send("POST", "/api/v1/account/password", json=change)).status_code >= 400
        change["current"] = PASSWORD
        changed = await self.send("POST", "/api/v1/account/password", json=change, tells=True)
        assert changed.is_success, changed.text
        self._note_session(changed)

    def _note_session(self, answer: httpx.Response) -> None:
        found = re.search(rf"{SESSION_COOKIE}=([^;]+)", answer.headers["Set-Cookie"])
        assert found is not None
        self.secrets[f"session {len(self.secrets)}"] = found[1]
        self.client.cookies.clear()
        sign_in(self.client, found[1])

    async def _take_second_factor(self) -> None:
        path, proof = "/api/v1/account/second-factor", {"password": NEW_PASSWORD}
        setup = (await self.send("POST", path, json=proof, tells=True)).json()
        self.secrets["one-time codes"] = setup["secret"]
        assert (await self.send("POST", f"{path}/confirm", json={"code": "000000"})).status_code >= 400
        code = pyotp.TOTP(setup["secret"]).at(1771668000)
        codes = await self.send("POST", f"{path}/confirm", json={"code": code}, tells=True)
        assert codes.is_success, codes.text
        self.secrets["recovery code"] = codes.json()["recoveryCodes"][0]

    async def _make_token_and_webhook(self) -> None:
        wanted = {"name": "robot", "scopes": ["read", "admin"]}
        made = await self.send("POST", "/api/v1/account/tokens", json=wanted, tells=True)
        self.secrets["token"] = made.json()["text"]
        hook = {"url": "https://hooks.example.com/x", "kinds": ["alert.*"], "reason": "A test"}
        hooked = await self.send("POST", "/api/v1/admin/webhooks", json=hook, tells=True)
        assert hooked.is_success, hooked.text
        self.secrets["webhook"] = hooked.json()["secret"]
        bearer = {"Authorization": f"Bearer {self.secrets['token']}"}
        for path in ("/api/v1/admin/webhooks", "/api/v1/admin/settings", "/api/v1/admin/audit", "/api/v1/account"):
            assert (await self.send("GET", path, headers=bearer)).status_code in (200, 403), path
        for path in ("/account", "/api/v1/account/tokens", "/api/v1/account/sessions", "/api/v1/admin/accounts"):
            assert (await self.send("GET", path)).status_code == 200, path

    async def _be_refused(self) -> None:
        """Errors of every kind, with secrets in what was wrong."""
        token, password = self.secrets["token"], NEW_PASSWORD
        bearer = {"Authorization": f"Bearer {token}"}
        await self.send("POST", "/api/v1/account/password", json={"current": [password], "password": password})
        await self.send("POST", "/api/v1/account/second-factor", json={"password": password * 100})
        await self.send("GET", "/api/v1/nothing", headers=bearer)
        await self.send("POST", "/api/v1/admin/queue/pause", json={"reason": ""}, headers=bearer)
        await self.send("GET", "/api/v1/admin/stuck", headers={"Authorization": f"Bearer {token}x"})
        await self.send("DELETE", "/api/v1/account/tokens/tok_nothing")


def found_in(text: str, secrets: dict[str, str]) -> list[str]:
    return [name for name, secret in secrets.items() if secret in text]


async def test_secrets_are_in_no_log_and_no_later_answer__and_only_as_hashes_in_the_store(
    env: WorkerEnv, logs: io.StringIO
) -> None:
    await make_account(env, "boss", Role.SUPER_ADMIN, password_hash=await hash_password(PASSWORD))
    async with client_of(create_web_app(env)) as client:
        client.headers["Sec-Fetch-Site"] = "same-origin"
        life = Life(client)
        await life.live()
    assert len(life.secrets) >= 9
    assert logs.getvalue()
    assert found_in(logs.getvalue(), life.secrets) == []
    for told in life.told:
        assert found_in(told, life.secrets) == [], told[:300]
    usable = ("one-time codes", "webhook")
    hashed = {name: secret for name, secret in life.secrets.items() if name not in usable}
    for key in await collect_keys(env.kv, ""):
        entry = await env.kv.get(key)
        assert entry is not None
        assert found_in(key + entry.value.decode("utf-8", "replace"), hashed) == [], key
        assert found_in(key, life.secrets) == [], key
    events = (await env.events.read(0)).events
    assert found_in(" ".join(event.data.decode() for event in events), life.secrets) == []
    assert CLIENT_SECRET not in f"{env.settings!r} {printable_settings(env.settings)} {env!r}"
    assert CLIENT_SECRET not in " ".join(life.told)


async def test_secrets_are_in_no_log__when_a_handler_that_holds_them_breaks(env: WorkerEnv, logs: io.StringIO) -> None:
    secret = await make_session(env, await make_account(env, "boss"))

    @get("/breaks", opt={ACCESS: ANYONE})
    async def break_down(request: Request[Any, Any, State]) -> None:
        held = request.cookies[SESSION_COOKIE]
        raise RuntimeError("broken" if held else "")

    async with client_of(create_app(env, [break_down], state={})) as client:
        sign_in(client, secret)
        answer = await client.get("/breaks")
    assert (answer.status_code, secret in answer.text) == (500, False)
    assert "RuntimeError" in logs.getvalue()
    assert secret not in logs.getvalue()


async def test_session_is_another_after_signing_in__whatever_the_browser_came_with(env: WorkerEnv) -> None:
    account = await make_account(env, "boss", Role.SUPER_ADMIN, password_hash=await hash_password(PASSWORD))
    planted = {"a session of nobody's": "planted-by-somebody-else", "a live one": await make_session(env, account)}
    for name, before in planted.items():
        async with client_of(create_web_app(env)) as client:
            sign_in(client, before)
            await client.post("/logout")
            sign_in(client, before)
            entered = await client.post("/login", data={"name": "boss", "password": PASSWORD})
            cookie = entered.headers["Set-Cookie"]
            assert before not in cookie, name
            assert "Secure" in cookie
            assert "HttpOnly" in cookie
            assert "samesite=lax" in cookie.lower()
            assert "Path=/" in cookie
            assert "domain" not in cookie.lower()
            sign_in(client, before)
            assert (await client.get("/api/v1/account")).status_code == 401, name


async def test_signing_in_is_refused__over_plain_http_from_elsewhere(env: WorkerEnv) -> None:
    async with client_of(create_web_app(env), scheme="http") as client:
        for answer in (await client.get("/login"), await client.post("/login", data={"name": "a", "password": "b"})):
            assert answer.status_code == 403
            assert answer.json()["code"] == "insecure_sign_in"
            assert "trusted_proxies" in answer.json()["detail"]
            assert "https://" in answer.json()["detail"]
