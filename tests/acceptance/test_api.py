"""The first routes, as a client meets them: submitting, looking, errors as problem documents, headers on everything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, cast

import httpx
import pytest

from tests.acceptance.running import inside
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.submissions import submit
from vskill_platform.web.app import create_control_app, create_web_app

URL = "https://github.com/acme/skills"


def client_of(app: object, address: str = "192.0.2.1") -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=cast("Any", app), client=(address, 1))
    return httpx.AsyncClient(transport=transport, base_url="http://registry")


@pytest.fixture
async def client(env: WorkerEnv) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(create_web_app(env)) as opened:
        yield opened


async def test_submission_is_created_once__and_found_by_its_id(client: httpx.AsyncClient) -> None:
    first = await client.post("/api/v1/submissions", json={"repoUrl": URL})
    assert first.status_code == 201
    body = first.json()
    assert (body["status"], body["state"], body["run"], body["duplicate"]) == ("created", "RECEIVED", 1, False)
    again = await client.post("/api/v1/submissions", json={"repoUrl": "github.com/Acme/Skills.git"})
    assert again.status_code == 200
    assert (again.json()["status"], again.json()["id"], again.json()["duplicate"]) == ("pending", body["id"], True)
    shown = await client.get(first.headers["Location"])
    assert shown.status_code == 200
    view = shown.json()
    assert (view["id"], view["state"], view["repoUrl"], view["scan"]) == (body["id"], "RECEIVED", URL, None)
    assert [entry["state"] for entry in view["history"]] == ["RECEIVED"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"repoUrl": "nonsense"}, 422, "invalid_repository_url"),
        ({"repoUrl": "https://u:p@github.com/a/b"}, 422, "invalid_repository_url"),
        ({"repoUrl": URL, "skillName": "a/b"}, 400, "invalid_input"),
        ({}, 400, "invalid_input"),
        ({"repoUrl": 7}, 400, "invalid_input"),
        ([], 400, "invalid_input"),
    ],
)
async def test_submission_is_refused_with_a_code__when_the_request_is_wrong(
    client: httpx.AsyncClient, body: object, status: int, code: str
) -> None:
    answer = await client.post("/api/v1/submissions", json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["detail"]


async def test_body_is_refused__when_it_is_too_large_or_no_json(client: httpx.AsyncClient) -> None:
    large = await client.post("/api/v1/submissions", json={"repoUrl": URL, "padding": "x" * 100_000})
    assert (large.status_code, large.json()["code"]) == (413, "body_too_large")
    broken = await client.post("/api/v1/submissions", content=b"{", headers={"Content-Type": "application/json"})
    assert (broken.status_code, broken.json()["code"]) == (400, "invalid_input")


async def test_unknown_things_are_not_found__with_a_code(client: httpx.AsyncClient) -> None:
    for path in ("/api/v1/submissions/sub_nothing", "/nowhere", "/control/stuck"):
        answer = await client.get(path)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), path


async def test_eleventh_submission_of_an_address_is_refused__and_another_address_is_not(env: WorkerEnv) -> None:
    app = create_web_app(env)
    async with client_of(app, "192.0.2.1") as one, client_of(app, "192.0.2.2") as other:
        for number in range(10):
            answer = await one.post("/api/v1/submissions", json={"repoUrl": f"{URL}{number}"})
            assert answer.status_code == 201
        refused = await one.post("/api/v1/submissions", json={"repoUrl": f"{URL}11"})
        assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
        assert 3500 < int(refused.headers["Retry-After"]) <= 3600
        assert (await other.post("/api/v1/submissions", json={"repoUrl": f"{URL}11"})).status_code == 201


async def test_operator_is_not_limited__on_the_control_socket(env: WorkerEnv) -> None:
    async with client_of(create_control_app(env)) as operator:
        for number in range(15):
            answer = await operator.post("/api/v1/submissions", json={"repoUrl": f"{URL}{number}"})
            assert answer.status_code == 201


async def test_admin_routes_are_open__to_the_operator_on_the_control_socket(
    env: WorkerEnv, client: httpx.AsyncClient
) -> None:
    await inside(env, lambda: submit("demo"))
    admin = "/api/v1/admin"
    reads = ["/stuck", "/dead-letters", "/skills", "/submissions", "/blocklist", "/reports"]
    writes = ["/submissions/requeue", "/submissions/rescan", "/dead-letters/drop"]
    async with client_of(create_control_app(env)) as operator:
        for path in reads:
            assert (await operator.get(admin + path)).status_code == 200, path
            assert (await client.get(admin + path)).status_code == 401, path
        for path in writes:
            body = {"ids": ["sub_x"], "reason": "r"}
            assert (await operator.post(admin + path, json=body)).status_code == 200, path
            assert (await client.post(admin + path, json=body)).status_code == 401, path
        rows = (await operator.get(f"{admin}/submissions", params={"state": "active"})).json()
        assert [row["skillName"] for row in rows["submissions"]] == ["demo"]
        wrong = await operator.get(f"{admin}/submissions", params={"state": "nonsense"})
        assert (wrong.status_code, wrong.json()["code"]) == (400, "invalid_query")
        mute = await operator.post(f"{admin}/dead-letters/drop", json={"ids": ["msg_x"]})
        assert (mute.status_code, mute.json()["code"]) == (400, "invalid_input")


async def test_every_answer_has_strict_headers__also_errors(client: httpx.AsyncClient) -> None:
    for path in ("/", "/healthz", "/readyz", "/nowhere", "/api/v1/submissions/sub_x"):
        headers = (await client.get(path)).headers
        assert headers["X-Content-Type-Options"] == "nosniff", path
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"], path
        assert "unsafe" not in headers["Content-Security-Policy"], path


async def test_start_page_counts_what_is_there__for_people(env: WorkerEnv, client: httpx.AsyncClient) -> None:
    await inside(env, lambda: submit("demo"))
    page = await client.get("/")
    assert page.status_code == 200
    assert page.headers["Content-Type"].startswith("text/html")
    assert '<dt>In the queue now</dt><dd class="number"><a href="/queue">1</a></dd>' in page.text
