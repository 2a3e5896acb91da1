"""A store that cannot be asked: 503 with Retry-After on every route, and never an empty list or a zero."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from tests.api.loaded import IDS, SLUGS, load_registry
from vskill_platform.domain.access import Role
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.engine import Engine
from vskill_platform.testing.accounts import make_account, make_session, sign_in
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.postgres_server import PostgresServer
from vskill_platform.web.api.openapi import api_document
from vskill_platform.web.app import create_web_app

SKILL = dict(zip(("owner", "repo", "skill"), SLUGS[0].split("/"), strict=True), version="1.0.0", path="SKILL.md")
WITHOUT_STORE = {"/api/v1/openapi.json"}
"""Routes that ask no store."""

KEPT_BY_A_STORE = {"/api/v1/submissions/positions"}
"""Answers that a store keeps for a few seconds of its own accord: they are asked for when none is kept."""


def reads() -> list[str]:
    """Every read of the API, with its parameters filled in."""
    found = []
    for path, item in api_document()["paths"].items():
        if "get" not in item or path in WITHOUT_STORE:
            continue
        wanted = [parameter for parameter in item["get"]["parameters"] if parameter["in"] == "query"]
        query = "&".join(f"{parameter['name']}=pdf" for parameter in wanted if parameter["required"])
        filled = path.format_map(defaultdict(lambda: IDS[6], SKILL))
        if path == "/api/v1/blocklist/check":
            query = "name=evil-skill"
        found.append(f"{filled}?{query}" if query else filled)
    return found


@asynccontextmanager
async def client_of(engine: Engine, folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who may read everything, so that no route answers without having asked the store."""
    env = make_env(engine, clock=SystemClock(), folder=folder)
    transport = httpx.ASGITransport(app=cast("Any", create_web_app(env)))
    async with httpx.AsyncClient(transport=transport, base_url="http://registry", timeout=60) as client:
        sign_in(client, await make_session(env, await make_account(env, "rita", Role.SUPER_ADMIN)))
        yield client


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
        written = await client.post(path, json={"repoUrl": "https://github.com/acme/other"})
        assert (written.status_code, "Retry-After" in written.headers) == (503, True), path


async def test_every_route_is_503__when_sqlite_is_closed(sqlite: Engine, tmp_path: Path) -> None:
    async with client_of(sqlite, tmp_path) as client:
        for path in reads():
            if not path.endswith("/stream") and path not in KEPT_BY_A_STORE:
                assert {(await client.get(path)).status_code for _ in range(3)} <= {200, 404}, path
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
