"""How often one caller may do what, and how it is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from vskill_platform.ports.engine import Engine
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.web.app import create_control_app, create_web_app
from vskill_platform.web.surface.rate_limits import RequestLimiter, household

SUBMISSIONS = "/api/v1/submissions"
READ = "/api/v1/submissions/sub_x"


def client_of(app: object, address: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=cast("Any", app), client=(address, 1))
    return httpx.AsyncClient(transport=transport, base_url="http://registry")


async def test_every_request_of_an_address_counts__and_comes_back_with_time(
    engine: Engine, clock: FakeClock, tmp_path: Path
) -> None:
    app = create_web_app(make_env(engine, clock=clock, folder=tmp_path, requests_per_minute=3))
    async with client_of(app, "192.0.2.1") as one, client_of(app, "192.0.2.2") as other:
        left = [(await one.get(READ)).headers["X-RateLimit-Remaining"] for _ in range(3)]
        assert left == ["2", "1", "0"]
        refused = await one.get(READ)
        assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
        assert refused.headers["Retry-After"] == "20"
        assert refused.headers["RateLimit-Policy"] == '"requests";q=3;w=60'
        assert refused.headers["RateLimit"] == '"requests";r=0;t=20'
        assert (refused.headers["X-RateLimit-Limit"], refused.headers["X-RateLimit-Remaining"]) == ("3", "0")
        assert int(refused.headers["X-RateLimit-Reset"]) == clock.now_ms() // 1000 + 20
        assert (await other.get(READ)).status_code == 404
        assert [(await one.get(path)).status_code for path in ("/healthz", "/readyz")] == [200, 200]
        clock.shift(20)
        assert [(await one.get(READ)).status_code for _ in range(2)] == [404, 429]


async def test_submissions_count_over_all_processes__whatever_is_in_them(
    engine: Engine, clock: FakeClock, tmp_path: Path
) -> None:
    env = make_env(engine, clock=clock, folder=tmp_path, submissions_per_hour=2)
    async with client_of(create_web_app(env), "192.0.2.1") as one, client_of(create_web_app(env), "192.0.2.1") as two:
        first = await one.post(SUBMISSIONS, json={"repoUrl": "https://github.com/acme/skills"})
        assert (first.status_code, first.headers["RateLimit"]) == (201, '"submissions";r=1;t=3600')
        assert (await two.post(SUBMISSIONS, json={"repoUrl": "nonsense"})).status_code == 422
        refused = await one.post(SUBMISSIONS, json={"repoUrl": "https://github.com/acme/skills"})
        assert (refused.status_code, refused.headers["X-RateLimit-Limit"]) == (429, "2")
        assert int(refused.headers["Retry-After"]) == 3600


async def test_operator_is_not_counted(engine: Engine, clock: FakeClock, tmp_path: Path) -> None:
    env = make_env(engine, clock=clock, folder=tmp_path, requests_per_minute=1, submissions_per_hour=1)
    async with client_of(create_control_app(env), "") as operator:
        for number in range(3):
            answer = await operator.post(SUBMISSIONS, json={"repoUrl": f"https://github.com/acme/s{number}"})
            assert (answer.status_code, "RateLimit" in answer.headers) == (201, False)


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8::7", "2001:db8::/64"),
        ("2001:db8:0:0:ffff::1", "2001:db8::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("", "unknown"),
    ],
)
def test_network_of_ipv6_counts_as_one(address: str, counted: str) -> None:
    assert household(address) == counted


def test_limiter_forgets_who_is_idle__and_stays_small(clock: FakeClock, engine: Engine, tmp_path: Path) -> None:
    limiter = RequestLimiter(clock, make_env(engine, clock=clock, folder=tmp_path).settings)
    for number in range(101_000):
        limiter.take(f"caller-{number}")
    assert len(limiter._full_at) <= 100_001
