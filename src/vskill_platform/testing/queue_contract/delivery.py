"""What is delivered, to whom, in which order, and how often."""

from __future__ import annotations

import asyncio

import pytest

from vskill_platform.domain.errors import (
    Conflict,
    InvalidInput,
    MessageTooLarge,
)
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.commit import (
    MAX_MESSAGE_BYTES,
    Ack,
    Release,
    Retry,
    Send,
)
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.queue import MAX_RECEIVE
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.queue_contract.steps import (
    LEASE_S,
    OTHER_QUEUE,
    QUEUE,
    SettleAs,
    each_settlement,
    ids_of,
    lapse,
    message_ids,
    pull,
    pull_one,
    send,
    settle,
    status_of,
)


class DeliveryContract:
    """Order, priority, delay, limits, and what a delivery carries."""

    async def test_receive_gives_what_was_sent__in_one_delivery(self, engine: Engine) -> None:
        await send(engine, "a", body=b"\x00\xff body", priority=3)
        (message,) = await pull(engine)
        assert (message.id, message.body, message.priority) == ("a", b"\x00\xff body", 3)
        assert (message.attempts, message.is_suspect, message.lease.message_id) == (1, False, "a")

    async def test_receive_gives_nothing__from_an_empty_queue(self, engine: Engine) -> None:
        assert await pull(engine) == []

    async def test_receive_gives_messages_in_the_order_they_were_sent__over_commits(self, engine: Engine) -> None:
        for id in ("c", "a", "b"):
            await send(engine, id)
        assert ids_of(await pull(engine)) == ["c", "a", "b"]

    async def test_receive_gives_messages_in_the_order_they_were_sent__in_one_commit(self, engine: Engine) -> None:
        await send(engine, "c", "a", "b")
        assert ids_of(await pull(engine)) == ["c", "a", "b"]

    async def test_receive_gives_higher_priorities_first__over_batches(self, engine: Engine) -> None:
        for id, priority in (("low", -1), ("usual", 0), ("urgent", 9), ("usual-2", 0), ("high", 1)):
            await send(engine, id, priority=priority)
        assert ids_of(await pull(engine, max_messages=2)) == ["urgent", "high"]
        assert ids_of(await pull(engine)) == ["usual", "usual-2", "low"]

    @each_settlement
    async def test_priority_stays__after_every_way_back(self, engine: Engine, settle_as: SettleAs) -> None:
        await send(engine, "urgent", priority=5)
        await settle(engine, settle_as((await pull_one(engine)).lease))
        await engine.queue.requeue(message_ids("urgent"))
        await send(engine, "usual")
        if settle_as is not Ack:
            assert (await pull_one(engine)).priority == 5
        assert ids_of(await pull(engine)) == ["usual"]

    async def test_receive_stops_at_the_limit__and_gives_the_rest_next(self, engine: Engine) -> None:
        await send(engine, "a", "b", "c")
        assert ids_of(await pull(engine, max_messages=2)) == ["a", "b"]
        assert ids_of(await pull(engine, max_messages=2)) == ["c"]
        assert await pull(engine, max_messages=2) == []

    async def test_receive_gives_the_largest_batch__at_the_limit(self, engine: Engine) -> None:
        names = [f"m{number:04}" for number in range(MAX_RECEIVE + 1)]
        await send(engine, *names)
        assert ids_of(await pull(engine, max_messages=MAX_RECEIVE)) == names[:-1]

    @pytest.mark.parametrize("max_messages", [-1, 0, MAX_RECEIVE + 1])
    async def test_receive_refuses__a_bad_limit(self, engine: Engine, max_messages: int) -> None:
        await send(engine, "a")
        with pytest.raises(InvalidInput):
            await pull(engine, max_messages=max_messages)
        assert await status_of(engine, "a") is MessageStatus.WAITING

    async def test_delay_holds_a_message_back__until_it_is_over(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "later", delay_s=10)
        await send(engine, "now")
        assert ids_of(await pull(engine)) == ["now"]
        await clock.advance(9)
        assert await pull(engine) == []
        await clock.advance(1)
        assert ids_of(await pull(engine)) == ["later"]

    async def test_delay_does_not_count_as_an_attempt__when_it_is_over(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "later", delay_s=10)
        await clock.advance(10)
        message = await pull_one(engine)
        assert (message.attempts, message.is_suspect) == (1, False)

    async def test_message_is_delivered_to_one_receiver__of_many_at_once(self, engine: Engine) -> None:
        names = [f"m{number}" for number in range(40)]
        await send(engine, *names)
        batches = await asyncio.gather(*(pull(engine, max_messages=3) for _ in range(20)))
        assert sorted(id for batch in batches for id in ids_of(batch)) == sorted(names)

    async def test_message_is_delivered_until_it_is_settled__and_not_after(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await send(engine, "a")
        await lapse(engine, clock)
        message = await pull_one(engine)
        await settle(engine, Ack(message.lease))
        await clock.advance(LEASE_S)
        assert await pull(engine) == []
        assert await status_of(engine, "a") is MessageStatus.GONE

    async def test_attempts_count_deliveries_from_one__through_failures_and_lapses(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await send(engine, "a")
        first = await pull_one(engine)
        await settle(engine, Retry(first.lease, "failed"))
        second = await lapse(engine, clock)
        third = await pull_one(engine)
        assert [message.attempts for message in (first, second, third)] == [1, 2, 3]

    async def test_token_changes__with_every_delivery(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        first = await lapse(engine, clock)
        second = await pull_one(engine)
        await settle(engine, Release(second.lease))
        third = await pull_one(engine)
        assert len({message.lease.token for message in (first, second, third)}) == 3

    async def test_queues_do_not_mix__in_any_call(self, engine: Engine) -> None:
        await send(engine, "a")
        await send(engine, "b", queue=OTHER_QUEUE)
        assert ids_of(await pull(engine, queue=OTHER_QUEUE)) == ["b"]
        assert await pull(engine, queue=OTHER_QUEUE) == []
        assert (await engine.queue.stats(QUEUE))[:4] == (1, 0, 0, 0)
        assert (await engine.queue.stats(OTHER_QUEUE))[:4] == (0, 0, 1, 0)
        waiting = await engine.queue.peek(QUEUE, status=MessageStatus.WAITING)
        assert ids_of(waiting.messages) == ["a"]
        exchange = await engine.queue.exchange(OTHER_QUEUE, [], max_messages=10, lease_s=LEASE_S)
        assert exchange.messages == []

    async def test_send_delivers_the_largest_message__and_refuses_a_larger_one(self, engine: Engine) -> None:
        await send(engine, "largest", body=b"x" * MAX_MESSAGE_BYTES)
        with pytest.raises(MessageTooLarge):
            await send(engine, "larger", body=b"x" * (MAX_MESSAGE_BYTES + 1))
        (message,) = await pull(engine)
        assert (message.id, len(message.body)) == ("largest", MAX_MESSAGE_BYTES)

    async def test_send_conflicts__with_an_id_of_another_queue(self, engine: Engine) -> None:
        await send(engine, "a")
        with pytest.raises(Conflict):
            await send(engine, "b", "a", queue=OTHER_QUEUE)
        assert await pull(engine, queue=OTHER_QUEUE) == []

    async def test_send_conflicts__with_a_message_that_the_same_commit_acks(self, engine: Engine) -> None:
        await send(engine, "a")
        message = await pull_one(engine)
        with pytest.raises(Conflict):
            await engine.writes.commit([Ack(message.lease), Send(QUEUE, MessageId("a"), b"again")])
        assert await status_of(engine, "a") is MessageStatus.LEASED
