"""What operators ask and do: stats, peek, find, requeue, drop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine

import pytest

from vskill_platform.domain.delivery import LAPSED_ERROR, MAX_ATTEMPTS
from vskill_platform.domain.errors import (
    EngineClosed,
    InvalidCursor,
    InvalidInput,
    LeaseLost,
)
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.commit import (
    Ack,
    Bury,
    Release,
    Retry,
)
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.queue import MessageInfo, QueueStats
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.queue_contract.steps import (
    LEASE_S,
    OTHER_QUEUE,
    QUEUE,
    bury,
    find_one,
    ids_of,
    lapse,
    message_ids,
    pull,
    pull_batches,
    pull_one,
    send,
    settle,
    status_of,
)
from vskill_platform.testing.waits import LIMIT_S, finish, in_background


class OperatorContract:
    """What an operator sees and does: stats, peek, find, requeue, drop."""

    async def test_stats_are_zero__for_a_queue_nobody_used(self, engine: Engine) -> None:
        assert await engine.queue.stats(QUEUE) == QueueStats(0, 0, 0, 0, None)

    async def test_stats_count_every_status__as_of_now(self, engine: Engine, clock: FakeClock) -> None:
        sent_ms = clock.now_ms()
        await bury(engine, "dead")
        await send(engine, "leased")
        await pull_one(engine)
        await send(engine, "waiting", "waiting-2")
        await send(engine, "delayed", "delayed-2", "delayed-3", delay_s=10)
        assert await engine.queue.stats(QUEUE) == QueueStats(2, 3, 1, 1, sent_ms)

    async def test_stats_count_a_lapsed_lease_as_waiting__before_anyone_looks(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await send(engine, "a")
        await lapse(engine, clock)
        assert (await engine.queue.stats(QUEUE))[:4] == (1, 0, 0, 0)

    async def test_stats_count_a_lease_that_lapsed_for_the_last_time_as_dead__before_anyone_looks(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await send(engine, "a")
        for _ in range(MAX_ATTEMPTS):
            await lapse(engine, clock)
        assert await engine.queue.stats(QUEUE) == QueueStats(0, 0, 0, 1, None)

    async def test_stats_count_a_delay_that_is_over_as_waiting__before_anyone_looks(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await send(engine, "a", delay_s=10)
        await clock.advance(9)
        assert (await engine.queue.stats(QUEUE))[:4] == (0, 1, 0, 0)
        await clock.advance(1)
        assert (await engine.queue.stats(QUEUE))[:4] == (1, 0, 0, 0)

    async def test_oldest_is_when_the_oldest_living_message_was_sent__through_its_life(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        moments = []
        for id in ("first", "second", "third"):
            moments.append(clock.now_ms())
            await send(engine, id)
            await clock.advance(1)
        first = await pull_one(engine)
        assert (await engine.queue.stats(QUEUE)).oldest_ms == moments[0]
        await settle(engine, Bury(first.lease, "hopeless"))
        assert (await engine.queue.stats(QUEUE)).oldest_ms == moments[1]
        second = await pull_one(engine)
        await settle(engine, Retry(second.lease, "failed", delay_s=10))
        assert (await engine.queue.stats(QUEUE)).oldest_ms == moments[1]
        await engine.queue.drop(message_ids("second"), reason="test")
        assert (await engine.queue.stats(QUEUE)).oldest_ms == moments[2]

    async def test_oldest_is_none__where_only_dead_letters_are_left(self, engine: Engine) -> None:
        await bury(engine, "a")
        assert (await engine.queue.stats(QUEUE)).oldest_ms is None

    async def test_line_has_what_waits__in_the_order_of_delivery(self, engine: Engine) -> None:
        await bury(engine, "dead")
        await send(engine, "leased")
        await pull_one(engine)
        await send(engine, "delayed", delay_s=10)
        await send(engine, "first", "second")
        await send(engine, "urgent", priority=5)
        assert [message.id for message in await engine.queue.line(QUEUE)] == ["urgent", "first", "second"]
        assert [message.id for message in await engine.queue.line(QUEUE, limit=2)] == ["urgent", "first"]
        assert await engine.queue.line(OTHER_QUEUE) == []
        bodies = [message.body for message in await engine.queue.line(QUEUE)]
        assert bodies == [(await pull_one(engine)).body for _ in range(3)]

    async def test_line_is_refused__for_a_limit_that_there_is_not(self, engine: Engine) -> None:
        for limit in (0, 100_001):
            with pytest.raises(InvalidInput):
                await engine.queue.line(QUEUE, limit=limit)

    async def test_peek_lists_each_status__without_the_others(self, engine: Engine) -> None:
        await self._one_of_each(engine)
        for status in (MessageStatus.WAITING, MessageStatus.DELAYED, MessageStatus.LEASED, MessageStatus.DEAD):
            page = await engine.queue.peek(QUEUE, status=status)
            assert (ids_of(page.messages), page.complete) == ([status.value], True)

    async def test_peek_lists_nothing__of_what_is_gone(self, engine: Engine) -> None:
        await self._one_of_each(engine)
        assert (await engine.queue.peek(QUEUE, status=MessageStatus.GONE)).messages == []

    async def test_peek_lists_in_the_order_of_sending__whatever_the_priority(self, engine: Engine) -> None:
        for id, priority in (("c", 0), ("a", 9), ("b", -1)):
            await send(engine, id, priority=priority)
        page = await engine.queue.peek(QUEUE, status=MessageStatus.WAITING)
        assert ids_of(page.messages) == ["c", "a", "b"]

    async def test_peek_pages_to_the_end__each_message_once(self, engine: Engine) -> None:
        names = [f"m{number}" for number in range(7)]
        await send(engine, *names, delay_s=10)
        await send(engine, "waiting")
        assert await self._peek_all(engine, status=MessageStatus.DELAYED, limit=3) == names

    async def test_peek_goes_on_behind_its_cursor__when_what_was_listed_has_gone(self, engine: Engine) -> None:
        await send(engine, "a", "b", "c", "d")
        page = await engine.queue.peek(QUEUE, status=MessageStatus.WAITING, limit=2)
        assert page.cursor is not None
        await engine.queue.drop(message_ids("a", "b"), reason="test")
        rest = await engine.queue.peek(QUEUE, status=MessageStatus.WAITING, cursor=page.cursor, limit=10)
        assert ids_of(rest.messages) == ["c", "d"]

    async def test_peek_shows_a_message_whole__to_the_operator(self, engine: Engine, clock: FakeClock) -> None:
        sent_ms = clock.now_ms()
        await send(engine, "a", body=b"\x00body", delay_s=10)
        page = await engine.queue.peek(QUEUE, status=MessageStatus.DELAYED)
        assert page.messages == [
            MessageInfo(
                id=MessageId("a"),
                queue=QUEUE,
                status=MessageStatus.DELAYED,
                attempts=0,
                sent_ms=sent_ms,
                ready_ms=sent_ms + 10_000,
                error=None,
                is_suspect=False,
                body=b"\x00body",
            )
        ]

    async def test_peek_shows_what_time_has_done__before_anyone_pulls(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "lapsed")
        await pull_one(engine)
        await send(engine, "ready", delay_s=LEASE_S)
        await clock.advance(LEASE_S)
        page = await engine.queue.peek(QUEUE, status=MessageStatus.WAITING)
        lapsed, ready = page.messages
        assert (lapsed.id, lapsed.attempts, lapsed.error, lapsed.is_suspect) == ("lapsed", 1, LAPSED_ERROR, True)
        assert (ready.id, ready.attempts, ready.error, ready.is_suspect) == ("ready", 0, None, False)
        assert (await engine.queue.peek(QUEUE, status=MessageStatus.LEASED)).messages == []
        assert (await engine.queue.peek(QUEUE, status=MessageStatus.DELAYED)).messages == []

    async def test_peek_touches_nothing__however_often(self, engine: Engine) -> None:
        await send(engine, "a")
        for _ in range(MAX_ATTEMPTS + 1):
            await engine.queue.peek(QUEUE, status=MessageStatus.WAITING)
        message = await pull_one(engine)
        await engine.queue.peek(QUEUE, status=MessageStatus.LEASED)
        assert message.attempts == 1
        await settle(engine, Ack(message.lease))

    async def test_peek_refuses__a_cursor_of_another_listing(self, engine: Engine) -> None:
        await send(engine, "a", "b")
        page = await engine.queue.peek(QUEUE, status=MessageStatus.WAITING, limit=1)
        with pytest.raises(InvalidCursor):
            await engine.queue.peek(QUEUE, status=MessageStatus.DEAD, cursor=page.cursor)
        with pytest.raises(InvalidCursor):
            await engine.queue.peek(OTHER_QUEUE, status=MessageStatus.WAITING, cursor=page.cursor)
        with pytest.raises(InvalidCursor):
            await engine.queue.peek(QUEUE, status=MessageStatus.WAITING, cursor="not a cursor")

    @pytest.mark.parametrize("limit", [-1, 0])
    async def test_peek_refuses__a_page_of_nothing(self, engine: Engine, limit: int) -> None:
        with pytest.raises(InvalidInput):
            await engine.queue.peek(QUEUE, status=MessageStatus.WAITING, limit=limit)

    async def test_find_gives_those_that_exist__of_any_queue_and_status(self, engine: Engine) -> None:
        await self._one_of_each(engine)
        await send(engine, "elsewhere", queue=OTHER_QUEUE)
        names = ["waiting", "delayed", "leased", "dead", "elsewhere", "nothing"]
        found = await engine.queue.find(message_ids(*names))
        statuses = {id: info.status.value for id, info in found.items()}
        assert statuses == {name: name for name in names[:4]} | {"elsewhere": "waiting"}
        assert {id: info.id for id, info in found.items()} == {id: id for id in found}
        assert found[MessageId("elsewhere")].queue == OTHER_QUEUE

    async def test_find_gives_nothing__for_nothing(self, engine: Engine) -> None:
        await send(engine, "a")
        assert await engine.queue.find([]) == {}
        assert await engine.queue.find(message_ids("b", "c")) == {}

    async def test_find_gives_a_message_once__asked_for_twice(self, engine: Engine) -> None:
        await send(engine, "a")
        assert list(await engine.queue.find(message_ids("a", "a"))) == ["a"]

    async def test_find_gives_all__of_thousands(self, engine: Engine) -> None:
        names = message_ids(*(f"m{number}" for number in range(3000)))
        await send(engine, *names)
        assert set(await engine.queue.find(names)) == set(names)

    async def test_find_shows_what_time_has_done__before_anyone_pulls(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        for _ in range(MAX_ATTEMPTS - 1):
            await lapse(engine, clock)
        found = await find_one(engine, "a")
        assert (found.status, found.is_suspect, found.error) == (MessageStatus.WAITING, True, LAPSED_ERROR)
        await pull_one(engine)
        assert await status_of(engine, "a") is MessageStatus.LEASED
        await clock.advance(LEASE_S)
        found = await find_one(engine, "a")
        assert (found.status, found.attempts, found.error) == (MessageStatus.DEAD, MAX_ATTEMPTS, LAPSED_ERROR)

    async def test_find_touches_nothing__however_often(self, engine: Engine) -> None:
        await send(engine, "a")
        for _ in range(MAX_ATTEMPTS + 1):
            assert (await find_one(engine, "a")).attempts == 0
        assert (await pull_one(engine)).attempts == 1

    async def test_requeue_delivers_a_dead_letter_from_the_start__with_all_its_attempts(self, engine: Engine) -> None:
        await bury(engine, "a")
        assert await engine.queue.requeue(message_ids("a")) == ["a"]
        for attempt in range(1, MAX_ATTEMPTS + 1):
            message = await pull_one(engine)
            assert message.attempts == attempt
            await settle(engine, Retry(message.lease, "failed"))
        assert await status_of(engine, "a") is MessageStatus.DEAD

    async def test_requeue_delivers_a_delayed_message__now(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        await settle(engine, Retry((await pull_one(engine)).lease, "failed", delay_s=600))
        assert await engine.queue.requeue(message_ids("a")) == ["a"]
        assert await status_of(engine, "a") is MessageStatus.WAITING
        assert (await pull_one(engine)).attempts == 1
        await clock.advance(600)
        assert (await pull_one(engine)).attempts == 2

    async def test_requeue_delivers_what_lapsed_for_the_last_time__before_anyone_looked(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await send(engine, "a")
        for _ in range(MAX_ATTEMPTS):
            await lapse(engine, clock)
        assert await engine.queue.requeue(message_ids("a")) == ["a"]
        assert (await pull_one(engine)).attempts == 1

    async def test_requeue_leaves_a_leased_message__to_its_holder(self, engine: Engine) -> None:
        await send(engine, "a")
        message = await pull_one(engine)
        assert await engine.queue.requeue(message_ids("a")) == []
        assert await pull(engine) == []
        await settle(engine, Ack(message.lease))

    async def test_requeue_returns_those_that_were__of_a_mixed_list(self, engine: Engine) -> None:
        await self._one_of_each(engine)
        asked = message_ids("nothing", "dead", "leased", "delayed", "dead")
        assert sorted(await engine.queue.requeue(asked)) == ["dead", "delayed"]
        assert (await engine.queue.stats(QUEUE))[:4] == (3, 0, 1, 0)

    async def test_requeue_leaves_no_right__to_whoever_had_the_lease_before(self, engine: Engine) -> None:
        await send(engine, "a")
        old = await pull_one(engine)
        await settle(engine, Bury(old.lease, "hopeless"))
        await engine.queue.requeue(message_ids("a"))
        await pull_one(engine)
        with pytest.raises(LeaseLost):
            await settle(engine, Ack(old.lease))

    async def test_requeue_does_nothing__for_no_ids(self, engine: Engine) -> None:
        assert await engine.queue.requeue([]) == []

    async def test_drop_removes_messages__that_nobody_works_on(self, engine: Engine, clock: FakeClock) -> None:
        await self._one_of_each(engine)
        asked = message_ids("waiting", "nothing", "delayed", "leased", "dead", "waiting")
        assert sorted(await engine.queue.drop(asked, reason="test")) == ["dead", "delayed", "waiting"]
        assert set(await engine.queue.find(asked)) == {"leased"}
        await clock.advance(600)
        assert await pull_batches(engine) == [["leased"]]

    async def test_drop_leaves_a_leased_message__to_its_holder(self, engine: Engine) -> None:
        await send(engine, "a")
        message = await pull_one(engine)
        assert await engine.queue.drop(message_ids("a"), reason="test") == []
        assert await engine.events.last_sequence() == 0
        await settle(engine, Ack(message.lease))

    async def test_drop_removes_a_message__whose_lease_has_lapsed(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        late = await lapse(engine, clock)
        assert await engine.queue.drop(message_ids("a"), reason="test") == ["a"]
        with pytest.raises(LeaseLost):
            await settle(engine, Retry(late.lease, "failed"))
        assert await pull(engine) == []

    async def test_drop_leaves_an_event__for_each_message(self, engine: Engine) -> None:
        await send(engine, "a")
        await send(engine, "b", queue=OTHER_QUEUE)
        await engine.queue.drop(message_ids("a", "nothing", "b"), reason="sent by mistake")
        events = (await engine.events.read(0)).events
        assert {event.kind for event in events} == {"message.dropped"}
        told = {event.subject: json.loads(event.data) for event in events}
        assert told == {
            "a": {"queue": QUEUE, "reason": "sent by mistake"},
            "b": {"queue": OTHER_QUEUE, "reason": "sent by mistake"},
        }
        assert len(events) == 2

    async def test_drop_wakes__who_waits_for_events(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        async with in_background(clock, engine.events.read(0, wait_s=60)) as task:
            await engine.queue.drop(message_ids("a"), reason="test")
            assert [event.subject for event in (await finish(task)).events] == ["a"]

    async def test_dropped_id_can_be_sent_again__as_a_new_message(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a", delay_s=10)
        await engine.queue.drop(message_ids("a"), reason="test")
        await send(engine, "a", body=b"new", delay_s=20)
        await clock.advance(10)
        assert await pull(engine) == []
        await clock.advance(10)
        message = await pull_one(engine)
        assert (message.body, message.attempts) == (b"new", 1)

    async def test_nothing_else_removes_a_message__in_all_its_life(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        await settle(engine, Release((await pull_one(engine)).lease))
        await settle(engine, Retry((await pull_one(engine)).lease, "failed"))
        for _ in range(MAX_ATTEMPTS - 1):
            await lapse(engine, clock)
        await engine.queue.requeue(message_ids("a"))
        await settle(engine, Bury((await pull_one(engine)).lease, "hopeless"))
        await engine.writes.purge()
        assert await status_of(engine, "a") is MessageStatus.DEAD

    async def test_queue_refuses__after_the_engine_was_closed(self, engine: Engine) -> None:
        await engine.close()
        queue = engine.queue
        calls: list[Coroutine[object, object, object]] = [
            queue.receive(QUEUE, max_messages=1, lease_s=LEASE_S, wait_s=60),
            queue.exchange(QUEUE, [], max_messages=1, lease_s=LEASE_S),
            queue.wait_ready(QUEUE, wait_s=60),
            queue.extend([], lease_s=LEASE_S),
            queue.stats(QUEUE),
            queue.peek(QUEUE, status=MessageStatus.DEAD),
            queue.find(message_ids("a")),
            queue.requeue(message_ids("a")),
            queue.drop(message_ids("a"), reason="test"),
        ]
        async with asyncio.timeout(LIMIT_S):
            answers = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(answer) for answer in answers] == [EngineClosed] * len(calls)

    async def test_waiting_receive_is_refused__when_the_engine_is_closed(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        call = engine.queue.receive(QUEUE, max_messages=1, lease_s=LEASE_S, wait_s=60)
        async with in_background(clock, call) as task:
            await engine.close()
            with pytest.raises(EngineClosed):
                await finish(task)

    async def _one_of_each(self, engine: Engine) -> None:
        await bury(engine, "dead")
        await send(engine, "leased")
        await pull_one(engine)
        await send(engine, "waiting")
        await send(engine, "delayed", delay_s=600)

    async def _peek_all(self, engine: Engine, *, status: MessageStatus, limit: int) -> list[str]:
        found: list[str] = []
        cursor = None
        while True:
            page = await engine.queue.peek(QUEUE, status=status, cursor=cursor, limit=limit)
            assert len(page.messages) <= limit
            found += ids_of(page.messages)
            if page.complete:
                return found
            assert page.cursor not in (None, cursor), "the listing does not go on"
            cursor = page.cursor
