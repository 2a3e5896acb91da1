"""Event streams over real sockets, on every engine: what is told, in which order, to whom, and how a stream is resumed."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack

import pytest

from tests.live.happenings import claimed, emitted, submitted
from tests.live.stream_client import SKILLS, SUBMISSIONS, open_stream
from vskill_platform.ports.commit import Emit
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.waits import eventually
from vskill_platform.web.live.hub import Hub


async def test_stream_tells_each_step_with_its_row__in_order(env: WorkerEnv, address: str) -> None:
    async with open_stream(address) as stream:
        assert stream.status == 200
        identity = await submitted(env)
        await claimed(env, identity)
        created, changed = await stream.take(2)
    assert (created.name, changed.name) == ("submission_created", "state_changed")
    assert created.id is not None
    assert changed.id is not None
    assert created.id < changed.id
    assert (created.data["id"], created.data["state"], created.data["category"]) == (identity, "RECEIVED", "active")
    assert (changed.data["from"], changed.data["state"], changed.data["trigger"]) == (
        "RECEIVED",
        "TIER1_SCANNING",
        "claimed",
    )
    assert changed.data["repoUrl"] == "https://github.com/acme/skills"
    assert changed.data["skillName"] == "demo"
    assert changed.data["updatedAt"].endswith("Z")


async def test_stream_is_neither_cached_nor_held_back(address: str) -> None:
    async with open_stream(address) as stream:
        assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert stream.headers["cache-control"] == "no-store"
        assert stream.headers["x-accel-buffering"] == "no"
        assert stream.retry_ms is not None
        assert stream.last_id is not None


async def test_stream_goes_on_after_the_last_event__when_it_is_resumed(env: WorkerEnv, address: str) -> None:
    async with open_stream(address) as stream:
        await emitted(env, range(5))
        seen = await stream.take(2)
    assert [one.data["run"] for one in seen] == [0, 1]
    assert seen[-1].id is not None
    async with open_stream(address, last_event_id=seen[-1].id) as stream:
        assert [one.data["run"] for one in await stream.take(3)] == [2, 3, 4]
        await emitted(env, [5])
        assert (await stream.next()).data["run"] == 5
    async with open_stream(address, f"{SUBMISSIONS}?lastEventId={seen[0].id}") as stream:
        assert [one.data["run"] for one in await stream.take(5)] == [1, 2, 3, 4, 5]


async def test_stream_reads_the_log__when_what_it_missed_is_no_longer_at_hand(env: WorkerEnv, address: str) -> None:
    await emitted(env, range(700))
    async with open_stream(address):
        await emitted(env, range(700, 1000))
    async with open_stream(address, last_event_id=0) as stream:
        seen = await stream.take(1000)
        await emitted(env, [1000])
        seen.append(await stream.next())
    assert [one.data["run"] for one in seen] == list(range(1001))


async def test_stream_says_reset__when_the_log_has_forgotten_what_it_asks_for(env: WorkerEnv, address: str) -> None:
    await emitted(env, range(3))
    await env.events.trim(before_ms=env.clock.now_ms() + 3_600_000)
    last = await env.events.last_sequence()
    for unknown in (0, last + 1000):
        async with open_stream(address, last_event_id=unknown) as stream:
            reset = await stream.next()
            assert (reset.name, reset.id) == ("reset", last)
            await emitted(env, [7])
            assert (await stream.next()).data["run"] == 7
        last = await env.events.last_sequence()


async def test_stream_gets_only_what_it_asks_for(env: WorkerEnv, address: str, hub: Hub) -> None:
    first, second = await submitted(env, "first"), await submitted(env, "second")
    async with (
        open_stream(address, f"{SUBMISSIONS}?ids={second},{'sub_none'}") as by_id,
        open_stream(address, f"{SUBMISSIONS}?category=review") as by_category,
        open_stream(address, f"{SUBMISSIONS}?state=RECEIVED") as by_state,
        open_stream(address, SKILLS) as skills,
    ):
        await claimed(env, first)
        await claimed(env, second)
        withdrawn = Emit("skill.withdrawn", "acme/skills/demo", b'{"reason": "It fails.", "secret": "x"}')
        await env.writes.commit([withdrawn, Emit("queue.paused", "queue", b'{"reason": "mending", "since": "s"}')])
        assert (await by_id.next()).data["id"] == second
        assert [one.data["id"] for one in await by_state.take(2)] == [first, second]
        told = await skills.next()
        assert (told.name, told.data["slug"]) == ("skill.withdrawn", "acme/skills/demo")
        assert set(told.data) == {"slug", "reason", "at"}
        hub.stop()
        assert await by_id.until_end() == []
        assert await by_category.until_end() == []


async def test_stream_tells_nothing_of_what_is_not_public(env: WorkerEnv, address: str) -> None:
    inside = {"id": "sub_x", "state": "RECEIVED", "run": 1, "email": "a@example.org", "claim": {"messageId": "m"}}
    async with open_stream(address) as stream:
        await env.writes.commit(
            [
                Emit("message.dropped", "msg_1", b'{"body": "secret"}'),
                Emit("account.created", "a@example.org", b"{}"),
                Emit("submission.state_changed", "sub_x", b"no json"),
                Emit("submission.state_changed", "sub_x", json.dumps(inside).encode()),
            ]
        )
        seen = await stream.next()
    assert seen.data["id"] == "sub_x"
    assert not {"email", "claim"} & set(seen.data)


@pytest.mark.parametrize(
    ("path", "header", "told"),
    [
        (f"{SUBMISSIONS}?ids=", None, "1 to 500"),
        (f"{SUBMISSIONS}?ids={','.join(f'sub_{n}' for n in range(501))}", None, "1 to 500"),
        (f"{SUBMISSIONS}?ids=%00", None, "control character"),
        (f"{SUBMISSIONS}?state=NOWHERE", None, "neither a category nor a state"),
        (f"{SUBMISSIONS}?state=", None, "neither a category nor a state"),
        (f"{SUBMISSIONS}?ids=a&state=active", None, "not by several"),
        (f"{SUBMISSIONS}?from=1", None, "ids, state, category, lastEventId"),
        (f"{SUBMISSIONS}?lastEventId=1&lastEventId=2", None, "at most once"),
        (f"{SUBMISSIONS}?lastEventId=-1", None, "whole number"),
        (SUBMISSIONS, "9" * 30, "whole number"),
        (SUBMISSIONS, "x", "whole number"),
    ],
)
@pytest.mark.parametrize("kind", ["memory"], indirect=True)
async def test_stream_is_refused_in_words__when_it_asks_for_what_there_is_not(
    address: str, path: str, header: str | None, told: str
) -> None:
    async with open_stream(address, path, last_event_id=header) as stream:
        assert stream.status == 400
        assert told in (await stream.body()).decode()


@pytest.mark.parametrize("kind", ["memory"], indirect=True)
async def test_stream_is_refused__when_too_many_are_open(address: str, hub: Hub) -> None:
    async with AsyncExitStack() as stack:
        mine = [await stack.enter_async_context(open_stream(address)) for _ in range(4)]
        async with open_stream(address) as fifth:
            assert (fifth.status, fifth.headers["retry-after"]) == (429, "15")
            assert b"rate_limited" in await fifth.body()
        for _ in range(4):
            await stack.enter_async_context(open_stream(address, source="127.0.0.2"))
        async with open_stream(address, source="127.0.0.3") as ninth:
            assert (ninth.status, ninth.headers["retry-after"]) == (503, "15")
            assert b"too_many_streams" in await ninth.body()
        mine[0].writer.close()
        await eventually(lambda: hub.places.taken == 7, what="a place is free again")
        async with open_stream(address) as again:
            assert again.status == 200
    await eventually(lambda: hub.places.taken == 0, what="all places are free again")
