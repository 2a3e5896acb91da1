"""An act: by somebody who may, for a reason, told by the very commit that does it."""

from __future__ import annotations

from typing import Any, cast

import httpx
import msgspec

from vskill_platform.domain.audit import AUDIT_HEAD_KEY, AuditEntry, AuditHead, Chain, audit_key
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.pause import PAUSE_KEY
from vskill_platform.web.app import create_control_app, create_web_app

PAUSE = "/api/v1/admin/queue/pause"


def client_of(app: object) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=cast("Any", app)), base_url="http://registry")


async def read_entries(env: WorkerEnv) -> list[AuditEntry]:
    head = await env.kv.get(AUDIT_HEAD_KEY)
    count = 0 if head is None else msgspec.json.decode(head.value, type=AuditHead).number
    found = [await env.kv.get(audit_key(number)) for number in range(1, count + 1)]
    return [msgspec.json.decode(entry.value, type=AuditEntry) for entry in found if entry is not None]


async def test_act_is_told_in_the_commit_that_does_it(env: WorkerEnv) -> None:
    async with client_of(create_control_app(env)) as operator:
        assert (await operator.post(PAUSE, json={"reason": "Host is down", "seconds": 60})).status_code == 200
        assert (await operator.post("/api/v1/admin/queue/resume", json={"reason": "It is back"})).status_code == 200
    first, second = await read_entries(env)
    assert (first.act, first.actor, first.via, first.reason) == ("queue.pause", "operator", "operator", "Host is down")
    assert first.touched == (PAUSE_KEY,)
    assert (second.act, second.previous) == ("queue.resume", first.hash)
    chain = Chain()
    assert [chain.follow(msgspec.json.encode(entry)) for entry in (first, second)] == [None, None]


async def test_act_is_refused__without_a_reason(env: WorkerEnv) -> None:
    async with client_of(create_control_app(env)) as operator:
        refused = await operator.post(PAUSE, json={"reason": "  "})
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_input")
    assert await read_entries(env) == []


async def test_act_is_refused__for_nobody(env: WorkerEnv) -> None:
    async with client_of(create_web_app(env)) as stranger:
        refused = await stranger.post(PAUSE, json={"reason": "For fun"})
        page = await stranger.get("/admin/queue", headers={"Accept": "text/html"})
    assert (refused.status_code, refused.json()["code"]) == (401, "sign_in_required")
    assert page.status_code in (401, 303)
    assert await env.kv.get(PAUSE_KEY) is None


async def test_panel_is_shown_to_the_operator(env: WorkerEnv) -> None:
    async with client_of(create_control_app(env)) as operator:
        shown = await operator.get("/admin/queue")
    assert (shown.status_code, shown.headers["Cache-Control"]) == (200, "no-store")
    assert 'data-api="POST /api/v1/admin/queue/pause"' in shown.text
