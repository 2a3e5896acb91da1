"""Answers that are kept: when one has run out, one caller makes the next and the others wait for that one."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import httpx
import pytest
from litestar import Router, get

from vskill_platform.domain.errors import NotFound
from vskill_platform.ports.commit import Emit
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.web.access import ACCESS, ANYONE
from vskill_platform.web.application import create_app
from vskill_platform.web.surface.kept_answers import KEPT
from vskill_platform.web.surface.rate_limits import LIMITED

CALLERS = 20


class Kitchen:
    """A route that says when it has been asked, and answers when it is let."""

    def __init__(self) -> None:
        self.made = 0
        self.asked = asyncio.Event()
        self.all_asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.is_gone = False

    async def make(self) -> str:
        self.made += 1
        self.asked.set()
        if self.made == CALLERS + 1:
            self.all_asked.set()
        await self.may_answer.wait()
        if self.is_gone:
            self.may_answer.clear()
            raise NotFound("It is gone.")
        return f"answer {self.made}"


@pytest.fixture
def kitchen() -> Kitchen:
    return Kitchen()


@pytest.fixture
def app(env: WorkerEnv, kitchen: Kitchen) -> Any:
    @get("/dish", opt={KEPT: True}, media_type="text/plain")
    async def dish() -> str:
        return await kitchen.make()

    return create_app(env, [Router("/", route_handlers=[dish], opt={ACCESS: ANYONE})], state={LIMITED: True})


@pytest.fixture
async def client(app: Any, kitchen: Kitchen) -> Any:
    """A client that has asked once, so that what comes next is kept."""
    transport = httpx.ASGITransport(app=cast("Any", app))
    async with httpx.AsyncClient(transport=transport, base_url="http://registry") as opened:
        kitchen.may_answer.set()
        await opened.get("/dish")
        kitchen.may_answer.clear()
        kitchen.asked.clear()
        yield opened


async def ask_together(client: httpx.AsyncClient, kitchen: Kitchen) -> list[httpx.Response]:
    """Callers that all come before the first answer is made."""
    callers = [asyncio.create_task(client.get("/dish")) for _ in range(CALLERS)]
    await kitchen.asked.wait()
    for _ in range(50):
        await asyncio.sleep(0)
    kitchen.may_answer.set()
    return await asyncio.gather(*callers)


async def test_answer_is_made_once__when_many_ask_at_the_same_time(client: httpx.AsyncClient, kitchen: Kitchen) -> None:
    answers = await ask_together(client, kitchen)
    assert {answer.text for answer in answers} == {"answer 2"}
    assert kitchen.made == 2


async def test_nobody_waits_in_line__where_there_is_nothing_to_keep(
    client: httpx.AsyncClient, kitchen: Kitchen
) -> None:
    kitchen.is_gone = True
    asking = asyncio.create_task(ask_together(client, kitchen))
    async with asyncio.timeout(3):
        await kitchen.all_asked.wait()
    kitchen.is_gone = False
    kitchen.may_answer.set()
    assert sorted(answer.status_code for answer in await asking) == [200] * (CALLERS - 1) + [404]


async def test_slow_client_keeps_nobody_waiting(app: Any, client: httpx.AsyncClient, kitchen: Kitchen) -> None:
    """The one who makes the answer takes it slowly: it is there for the others all the same."""
    is_sending, may_send = asyncio.Event(), asyncio.Event()

    async def send(_: Any) -> None:
        is_sending.set()
        await may_send.wait()

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "path": "/dish",
        "raw_path": b"/dish",
        "query_string": b"",
        "headers": [(b"host", b"registry")],
        "client": ("192.0.2.1", 1),
        "server": ("registry", 80),
        "http_version": "1.1",
        "extensions": {},
        "state": {},
    }
    slow = asyncio.create_task(app(scope, receive, send))
    await kitchen.asked.wait()
    waiting = asyncio.create_task(client.get("/dish"))
    for _ in range(50):
        await asyncio.sleep(0)
    kitchen.may_answer.set()
    await is_sending.wait()
    async with asyncio.timeout(3):
        assert (await waiting).text == "answer 2"
    may_send.set()
    await slow


async def test_waiting_callers_make_the_answer_once_more__when_something_happens_meanwhile(
    client: httpx.AsyncClient, kitchen: Kitchen, env: WorkerEnv
) -> None:
    """What was begun before an event is no answer for those who came after it: one of them makes the next, for all."""
    first = asyncio.create_task(client.get("/dish"))
    await kitchen.asked.wait()
    await env.writes.commit([Emit("something", "here", b"{}")])
    later = await ask_together(client, kitchen)
    assert (await first).text in {"answer 2", "answer 3"}
    assert {answer.text for answer in later} == {"answer 3"}
    assert kitchen.made == 3
