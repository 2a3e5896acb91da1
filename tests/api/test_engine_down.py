"""A store that cannot be asked: 503 with Retry-After on every route, and never an empty list or a zero."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.loaded import IDS, SLUGS, load_registry
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.engine import Engine
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.postgres_server import PostgresServer
from vskill_platform.web.api.openapi import api_document
from vskill_platform.web.app import create_control_app, create_web_app
from vskill_platform.web.clients.listing import PLACES
from vskill_platform.web.secure_sessions import SESSION_COOKIE

SKILL = dict(zip(("owner", "repo", "skill"), SLUGS[0].split("/"), strict=True), version="1.0.0", path="SKILL.md")
OWN_SITE = {"Sec-Fetch-Site": "same-origin"}
WITHOUT_STORE = {"/api/v1/openapi.json", "/api/v1/admin/settings"}
"""Routes that ask no store."""

QUERIES = {"/api/v1/blocklist/check": "name=evil-skill", "/api/v1/admin/blocklist/preview": "skillName=evil-skill"}
"""Of routes that need one of several parameters."""

KEPT_BY_A_STORE = {"/api/v1/submissions/positions"}
"""Answers that a store keeps for a few seconds of its own accord: they are asked for when none is kept."""


CLIENT_READS = [
    *(f"{place}/.well-known/agent-skills/index.json" for place in PLACES),
    *(f"{place}/.claude-plugin/marketplace.json" for place in PLACES),
    "/api/search?q=pdf",
]
"""What clients of other makes ask for."""


class _Filled(dict[str, str]):
    """Parts of addresses by name; what has none of its own is an id."""

    def __missing__(self, name: str) -> str:
        return IDS[6]


def reads() -> list[str]:
    """Every read of the API, with its parameters filled in."""
    found = []
    for path, item in api_document()["paths"].items():
        if "get" not in item or path in WITHOUT_STORE:
            continue
        wanted = [parameter for parameter in item["get"]["parameters"] if parameter["in"] == "query"]
        query = "&".join(f"{parameter['name']}=pdf" for parameter in wanted if parameter["required"])
        filled = path.format_map(_Filled(SKILL))
        query = QUERIES.get(path, query)
        found.append(f"{filled}?{query}" if query else filled)
    return found + [path.replace(":str", "").format_map(_Filled(SKILL)) for path in CLIENT_READS]


def client_of(engine: Engine, folder: Path) -> httpx.AsyncClient:
    env = make_env(engine, clock=SystemClock(), folder=folder)
    apps = {False: create_web_app(env), True: create_control_app(env)}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        """The operator's application for what is the operator's, so that no route is spared for want of a role."""
        await apps[scope["path"].startswith("/api/v1/admin/")](scope, receive, send)

    transport = httpx.ASGITransport(app=app)
    # Whoever comes with a session is looked up in the store, whether it is one or not.
    headers = {"Cookie": f"{SESSION_COOKIE}={'a' * 43}"}
    return httpx.AsyncClient(transport=transport, base_url="http://registry", timeout=60, headers=headers)


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[Engine]:
    engine = await open_sqlite(tmp_path / "registry.db", clock=SystemClock(), synchronous="OFF")
    await load_registry(engine)
    yield engine
    await engine.close()


async def check_all_down(client: httpx.AsyncClient) -> None:
    for path in [*reads(), "/healthz"]:
        answer = await client.get(path)
        assert answer.status_code == 503, (path, answer.status_code, answer.text[:200])
        assert int(answer.headers["Retry-After"]) >= 1
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert "total" not in answer.json()
    for path in ("/api/v1/submissions", f"/api/v1/submissions/{IDS[6]}/retry"):
        written = await client.post(path, headers=OWN_SITE, json={"repoUrl": "https://github.com/acme/other"})
        assert (written.status_code, "Retry-After" in written.headers) == (503, True), path


async def test_every_route_is_503__when_sqlite_is_closed(sqlite: Engine, tmp_path: Path) -> None:
    async with client_of(sqlite, tmp_path) as client:
        for path in reads():
            if not path.endswith("/stream") and path not in KEPT_BY_A_STORE:
                assert {(await client.get(path)).status_code for _ in range(3)} <= {200, 401, 404, 410}, path
        await sqlite.close()
        await check_all_down(client)


async def test_every_route_is_503__when_postgres_is_stopped(tmp_path: Path) -> None:
    server = PostgresServer(is_safe=False)
    server.start()
    engine = await open_postgres(server.url(server.create_database()))
    try:
        await load_registry(engine)
        async with client_of(engine, tmp_path) as client:
            assert (await client.get("/api/v1/submissions")).json()["total"] == len(IDS)
            server.stop()
            await check_all_down(client)
    finally:
        await engine.close()
        server.stop()
