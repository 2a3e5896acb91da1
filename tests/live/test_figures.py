"""Places in the line and figures over time, on every engine: exact, cheap, and never a zero for what nobody knows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.acceptance.running import inside
from tests.live.happenings import claimed, submitted
from vskill_platform.domain.errors import Conflict
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE, ProcessSubmission, encode_message
from vskill_platform.ports.commit import Emit, Send
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.pause import pause_queue
from vskill_platform.stores.positions import _read_line, find_position, read_line
from vskill_platform.stores.series import count_events, read_series
from vskill_platform.web.app import create_web_app


@pytest.fixture
async def client(env: WorkerEnv) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_web_app(env))
    async with httpx.AsyncClient(transport=transport, base_url="http://registry") as opened:
        yield opened


async def waiting(env: WorkerEnv, *identities: str, priority: int = 0) -> None:
    sends = [
        Send(
            SUBMISSIONS_QUEUE,
            MessageId(f"msg_{identity}"),
            encode_message(ProcessSubmission(submission_id=identity, run=1)),
            priority=priority,
        )
        for identity in identities
    ]
    await env.writes.commit(sends)


async def test_positions_are_the_order_of_delivery(env: WorkerEnv, client: httpx.AsyncClient) -> None:
    await waiting(env, "sub_a", "sub_b")
    await waiting(env, "sub_urgent", priority=9)
    answer = (await client.get("/api/v1/submissions/positions")).json()
    assert list(answer["positions"].items()) == [("sub_urgent", 1), ("sub_a", 2), ("sub_b", 3)]
    assert (answer["total"], answer["expectedWaitS"]) == (3, None)
    some = (await client.get("/api/v1/submissions/positions?ids=sub_b,sub_none")).json()
    assert (some["positions"], some["total"]) == ({"sub_b": 3}, 3)
    unknown = await inside(env, lambda: find_position("sub_none"))
    assert (unknown.position, unknown.total, unknown.expected_wait_s) == (None, 3, None)


async def test_expected_wait_is_by_how_fast_the_line_moved__and_null_in_a_pause(
    env: WorkerEnv, client: httpx.AsyncClient
) -> None:
    for number in range(3):
        await claimed(env, await submitted(env, f"skill-{number}"))
    await inside(env, count_events)
    answer = (await client.get("/api/v1/submissions/positions")).json()
    assert answer["total"] == 3
    assert 600 <= answer["expectedWaitS"] <= 1200  # three in a quarter of an hour, three still to go
    await inside(env, lambda: pause_queue(reason="mending"))
    assert (await inside(env, _read_line)).rate is None


async def test_line_is_read_once__for_all_who_ask_together(env: WorkerEnv) -> None:
    await waiting(env, "sub_a")
    lines = await inside(env, lambda: asyncio.gather(*(read_line() for _ in range(50))))
    assert len({id(line) for line in lines}) == 1


async def test_series_counts_each_step_once__however_often_it_is_counted(
    env: WorkerEnv, client: httpx.AsyncClient
) -> None:
    before = (await client.get("/api/v1/stats/series?hours=2")).json()
    assert before["countedAt"] is None
    assert [hour["received"] for hour in before["hours"]] == [None, None]
    for number in range(4):
        await submitted(env, f"skill-{number}")
    scan = b'{"id": "sub_x", "run": 1, "tier": "tier1", "verdict": "PASS", "score": 97, "findings": 0}'
    published = b'{"id": "sub_x", "state": "PUBLISHED", "from": "AUTO_APPROVED", "trigger": "published", "run": 1}'
    recovered = b'{"id": "sub_x", "state": "RECEIVED", "from": "RECEIVED", "trigger": "recovered", "run": 1}'
    await env.writes.commit(
        [
            Emit("scan.completed", "sub_x", scan),
            Emit("submission.state_changed", "sub_x", published),
            Emit("submission.state_changed", "sub_x", recovered),
        ]
    )
    outcomes = await asyncio.gather(*(inside(env, count_events) for _ in range(4)), return_exceptions=True)
    assert all(isinstance(outcome, dict | Conflict) for outcome in outcomes), outcomes
    await inside(env, count_events)
    series = (await client.get("/api/v1/stats/series?hours=2")).json()
    received = [hour["received"] for hour in series["hours"]]
    assert sum(received) == 4
    assert sum(hour["published"] for hour in series["hours"]) == 1
    assert sum(hour["verdicts"]["PASS"] for hour in series["hours"]) == 1
    assert series["hours"][-1]["depthLast"] == 4
    assert series["countedAt"] is not None


async def test_series_is_unknown_and_not_zero__where_events_were_lost_before_they_were_counted(env: WorkerEnv) -> None:
    await inside(env, count_events)
    for number in range(3):
        await submitted(env, f"skill-{number}")
    await env.events.trim(before_ms=env.clock.now_ms() + 3_600_000)
    await inside(env, count_events)
    series = await inside(env, lambda: read_series(2))
    assert [hour.received for hour in series.hours] == [None, None]


async def test_figures_are_503__when_the_engine_is_gone(engine: Engine, client: httpx.AsyncClient) -> None:
    await engine.close()
    for path in ("/api/v1/submissions/positions", "/api/v1/stats/series"):
        answer = await client.get(path)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")


@pytest.mark.parametrize("kind", ["memory"], indirect=True)
@pytest.mark.parametrize("query", ["positions?ids=", "positions?limit=3", "positions?ids=a&ids=b"])
async def test_positions_are_refused_in_words__for_what_they_do_not_take(client: httpx.AsyncClient, query: str) -> None:
    answer = await client.get(f"/api/v1/submissions/{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")


@pytest.mark.parametrize("kind", ["memory"], indirect=True)
@pytest.mark.parametrize("hours", ["0", "745", "x"])
async def test_series_is_refused__for_hours_that_are_not_kept(client: httpx.AsyncClient, hours: str) -> None:
    assert (await client.get(f"/api/v1/stats/series?hours={hours}")).status_code == 400
