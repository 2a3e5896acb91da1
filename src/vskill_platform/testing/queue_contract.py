"""What every engine's queue must do: the sentences of `ports.queue` as tests, to be inherited by an engine's test module.

The module that inherits `QueueContract` provides two fixtures: `clock`, a FakeClock, and `engine`, an engine that was
opened with it, fresh for each test, with the default number of attempts. Nothing in here may know which engine it has.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vskill_platform.domain.delivery import LAPSED_ERROR, MAX_ATTEMPTS
from vskill_platform.domain.errors import (
    Conflict,
    EngineClosed,
    InvalidCursor,
    InvalidInput,
    LeaseLost,
    MessageTooLarge,
    VskillError,
)
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.commit import (
    ABSENT,
    MAX_MESSAGE_BYTES,
    Ack,
    Bury,
    Committed,
    Emit,
    Lease,
    Operation,
    Put,
    Release,
    Retry,
    Send,
    Settlement,
)
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.queue import MAX_RECEIVE, Message, MessageInfo, QueueStats
from vskill_platform.testing.clock import FakeClock

T = TypeVar("T")
QUEUE = "scans"
OTHER_QUEUE = "notices"
LEASE_S = 30.0
REAL_LIMIT_S = 5.0
"""How long, by the machine's clock, a test waits for what should happen at once. Only a failing test waits that long."""

SettleAs = Callable[[Lease], Settlement]


def retried(lease: Lease) -> Settlement:
    """Retry it now."""
    return Retry(lease, "it failed")


def buried(lease: Lease) -> Settlement:
    """Bury it."""
    return Bury(lease, "hopeless")


each_settlement = pytest.mark.parametrize(
    "settle_as",
    [
        pytest.param(Ack, id="ack"),
        pytest.param(retried, id="retry"),
        pytest.param(Release, id="release"),
        pytest.param(buried, id="bury"),
    ],
)


async def send(
    engine: Engine, *ids: str, queue: str = QUEUE, body: bytes = b"{}", delay_s: float = 0.0, priority: int = 0
) -> None:
    """Send messages in one commit, in the order of their ids."""
    await engine.writes.commit(
        [Send(queue, MessageId(id), body, delay_s=delay_s, priority=priority) for id in ids],
    )


async def pull(
    engine: Engine, *, queue: str = QUEUE, max_messages: int = 10, lease_s: float = LEASE_S
) -> list[Message]:
    """Receive without waiting."""
    return await engine.queue.receive(queue, max_messages=max_messages, lease_s=lease_s)


async def pull_one(engine: Engine, *, queue: str = QUEUE, lease_s: float = LEASE_S) -> Message:
    """Receive the one message that must be there."""
    messages = await pull(engine, queue=queue, max_messages=1, lease_s=lease_s)
    assert len(messages) == 1, "there is no message to pull"
    return messages[0]


async def pull_batches(engine: Engine, *, queue: str = QUEUE) -> list[list[str]]:
    """The ids of one batch after another until nothing is left."""
    batches: list[list[str]] = []
    while messages := await pull(engine, queue=queue):
        batches.append(ids_of(messages))
    return batches


async def settle(engine: Engine, *settlements: Settlement) -> None:
    """Carry settlements out in one commit."""
    await engine.writes.commit(settlements)


async def lapse(engine: Engine, clock: FakeClock) -> Message:
    """Receive the one message that must be there, and let its lease lapse."""
    message = await pull_one(engine)
    await clock.advance(LEASE_S)
    return message


async def find_one(engine: Engine, id: str) -> MessageInfo:
    """What the queue says of the message that must be there."""
    return (await engine.queue.find([MessageId(id)]))[MessageId(id)]


async def status_of(engine: Engine, id: str) -> MessageStatus:
    """The status of a message, GONE where there is none."""
    found = await engine.queue.find([MessageId(id)])
    return found[MessageId(id)].status if found else MessageStatus.GONE


async def bury(engine: Engine, id: str, *, error: str = "hopeless") -> None:
    """Send a message and make it a dead letter."""
    await send(engine, id)
    message = await pull_one(engine)
    assert message.id == id
    await settle(engine, Bury(message.lease, error))


def ids_of(messages: Sequence[Message | MessageInfo]) -> list[str]:
    """The messages' ids, in order."""
    return [message.id for message in messages]


def message_ids(*ids: str) -> list[MessageId]:
    """Texts as ids."""
    return [MessageId(id) for id in ids]


async def check_asleep(clock: FakeClock, task: asyncio.Task[T], *, sleepers: int = 1) -> None:
    """Let the task run until so many wait for the clock, and fail if it ends instead."""
    async with asyncio.timeout(REAL_LIMIT_S):
        # The pause leaves the processor to an engine's threads: nobody signals that a call has gone to sleep.
        while clock.sleepers < sleepers and not task.done():  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    assert not task.done(), "the call returned instead of waiting"


@asynccontextmanager
async def in_background(clock: FakeClock, call: Coroutine[object, object, T]) -> AsyncIterator[asyncio.Task[T]]:
    """Run a call until it waits for the clock; what is left of it at the end is cancelled."""
    sleepers = clock.sleepers + 1
    task = asyncio.create_task(call)
    try:
        await check_asleep(clock, task, sleepers=sleepers)
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


async def finish(task: asyncio.Task[T]) -> T:
    """What the call returns, which must be soon."""
    async with asyncio.timeout(REAL_LIMIT_S):
        return await task


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


class WaitingContract:
    """`receive` with a wait, and `wait_ready`: what ends them, and what does not."""

    async def test_receive_returns_at_once__where_it_need_not_wait(self, engine: Engine) -> None:
        await send(engine, "a")
        call = engine.queue.receive(QUEUE, max_messages=10, lease_s=LEASE_S, wait_s=60)
        async with asyncio.timeout(REAL_LIMIT_S):
            assert ids_of(await call) == ["a"]

    async def test_receive_returns_nothing__when_its_wait_is_over(self, engine: Engine, clock: FakeClock) -> None:
        async with in_background(clock, self._receive(engine)) as task:
            await clock.advance(59)
            await check_asleep(clock, task)
            await clock.advance(1)
            assert await finish(task) == []

    async def test_receive_wakes__by_a_commit_of_another_task(self, engine: Engine, clock: FakeClock) -> None:
        async with in_background(clock, self._receive(engine)) as task:
            await send(engine, "a")
            assert ids_of(await finish(task)) == ["a"]

    async def test_receive_wakes__by_an_exchange_of_another_task(self, engine: Engine, clock: FakeClock) -> None:
        async with in_background(clock, self._receive(engine)) as task:
            sends = [[Send(QUEUE, MessageId("a"), b"")]]
            await engine.queue.exchange(OTHER_QUEUE, sends, max_messages=0, lease_s=LEASE_S)
            assert ids_of(await finish(task)) == ["a"]

    async def test_receive_goes_on_waiting__when_another_queue_gets_a_message(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        async with in_background(clock, self._receive(engine)) as task:
            await send(engine, "b", queue=OTHER_QUEUE)
            await clock.advance(59)
            await check_asleep(clock, task)

    async def test_receive_goes_on_waiting__when_another_receiver_took_the_message(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        async with (
            in_background(clock, self._receive(engine)) as first,
            in_background(clock, self._receive(engine)) as second,
        ):
            await send(engine, "a")
            async with asyncio.timeout(REAL_LIMIT_S):
                done, waiting = await asyncio.wait({first, second}, return_when=asyncio.FIRST_COMPLETED)
            assert [ids_of(task.result()) for task in done] == [["a"]]
            (other,) = waiting
            await check_asleep(clock, other)
            await clock.advance(60)
            messages = await finish(other)
            assert [(message.id, message.is_suspect) for message in messages] == [("a", True)]

    @pytest.mark.parametrize("settle_as", [pytest.param(retried, id="retry"), pytest.param(Release, id="release")])
    async def test_receive_wakes__when_a_message_comes_back(
        self, engine: Engine, clock: FakeClock, settle_as: SettleAs
    ) -> None:
        await send(engine, "a")
        held = await pull_one(engine)
        async with in_background(clock, self._receive(engine)) as task:
            await settle(engine, settle_as(held.lease))
            assert ids_of(await finish(task)) == ["a"]

    async def test_receive_wakes__when_a_dead_letter_is_requeued(self, engine: Engine, clock: FakeClock) -> None:
        await bury(engine, "a")
        async with in_background(clock, self._receive(engine)) as task:
            await engine.queue.requeue(message_ids("a"))
            assert ids_of(await finish(task)) == ["a"]

    async def test_receive_wakes__when_a_delay_ends(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "later", delay_s=10)
        async with in_background(clock, self._receive(engine)) as task:
            await clock.advance(9)
            await check_asleep(clock, task)
            await clock.advance(1)
            assert ids_of(await finish(task)) == ["later"]

    async def test_receive_wakes__when_the_delay_of_a_message_sent_meanwhile_ends(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        async with in_background(clock, self._receive(engine)) as task:
            await send(engine, "later", delay_s=20)
            await send(engine, "sooner", delay_s=10)
            await check_asleep(clock, task)
            await clock.advance(10)
            assert ids_of(await finish(task)) == ["sooner"]

    async def test_receive_wakes__when_a_lease_lapses(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        await pull_one(engine)
        async with in_background(clock, self._receive(engine)) as task:
            await clock.advance(LEASE_S)
            (message,) = await finish(task)
        assert (message.id, message.is_suspect) == ("a", True)

    async def test_receive_waits_for_the_new_end__of_a_lease_that_was_extended(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await send(engine, "a")
        held = await pull_one(engine)
        async with in_background(clock, self._receive(engine)) as task:
            await clock.advance(20)
            await engine.queue.extend([held.lease], lease_s=LEASE_S)
            await clock.advance(29)
            await check_asleep(clock, task)
            await clock.advance(1)
            assert ids_of(await finish(task)) == ["a"]

    async def test_receive_wakes__at_the_new_end_of_a_lease_that_was_shortened(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await send(engine, "a")
        held = await pull_one(engine)
        async with in_background(clock, self._receive(engine)) as task:
            await engine.queue.extend([held.lease], lease_s=5)
            await clock.advance(5)
            assert ids_of(await finish(task)) == ["a"]

    async def test_receive_goes_on_waiting__when_a_lapse_made_a_dead_letter(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await send(engine, "a")
        for _ in range(MAX_ATTEMPTS - 1):
            await lapse(engine, clock)
        await pull_one(engine)
        async with in_background(clock, self._receive(engine)) as task:
            await clock.advance(LEASE_S)
            await check_asleep(clock, task)
            await clock.advance(60 - LEASE_S)
            assert await finish(task) == []

    async def test_receive_never_waits_to_fill__with_one_message_there(self, engine: Engine, clock: FakeClock) -> None:
        async with in_background(clock, self._receive(engine)) as task:
            await send(engine, "a")
            assert ids_of(await finish(task)) == ["a"]
        await send(engine, "b")
        assert ids_of(await pull(engine)) == ["b"]

    async def test_wait_ready_returns_at_once__with_a_message_there(self, engine: Engine) -> None:
        await send(engine, "a")
        async with asyncio.timeout(REAL_LIMIT_S):
            await engine.queue.wait_ready(QUEUE, wait_s=60)

    async def test_wait_ready_returns__when_its_wait_is_over(self, engine: Engine, clock: FakeClock) -> None:
        async with in_background(clock, engine.queue.wait_ready(QUEUE, wait_s=60)) as task:
            await clock.advance(59)
            await check_asleep(clock, task)
            await clock.advance(1)
            await finish(task)

    async def test_wait_ready_returns__when_a_message_comes(self, engine: Engine, clock: FakeClock) -> None:
        async with in_background(clock, engine.queue.wait_ready(QUEUE, wait_s=60)) as task:
            await send(engine, "a")
            await finish(task)

    async def test_wait_ready_returns__when_a_delay_ends(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "later", delay_s=10)
        async with in_background(clock, engine.queue.wait_ready(QUEUE, wait_s=60)) as task:
            await clock.advance(10)
            await finish(task)

    async def test_wait_ready_returns__when_a_lease_lapses(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        await pull_one(engine)
        async with in_background(clock, engine.queue.wait_ready(QUEUE, wait_s=60)) as task:
            await clock.advance(LEASE_S)
            await finish(task)

    async def test_wait_ready_takes_nothing__when_it_returns(self, engine: Engine) -> None:
        await send(engine, "a", "b")
        await engine.queue.wait_ready(QUEUE, wait_s=60)
        assert (await engine.queue.stats(QUEUE))[:4] == (2, 0, 0, 0)
        assert [message.attempts for message in await pull(engine)] == [1, 1]

    async def test_wait_ready_loses_nothing__when_it_is_cancelled(self, engine: Engine, clock: FakeClock) -> None:
        async with in_background(clock, engine.queue.wait_ready(QUEUE, wait_s=60)) as task:
            task.cancel()
            await send(engine, "a")
            with pytest.raises(asyncio.CancelledError):
                await finish(task)
        message = await pull_one(engine)
        assert (message.id, message.attempts) == ("a", 1)

    async def test_wait_ready_loses_nothing__when_it_is_cancelled_as_a_message_comes(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        async with in_background(clock, engine.queue.wait_ready(QUEUE, wait_s=60)) as task:
            await send(engine, "a")
            task.cancel()
        message = await pull_one(engine)
        assert (message.id, message.attempts) == ("a", 1)

    async def _receive(self, engine: Engine) -> list[Message]:
        return await engine.queue.receive(QUEUE, max_messages=10, lease_s=LEASE_S, wait_s=60)


class LeaseContract:
    """Lapse, suspicion, fencing, and `extend`."""

    async def test_lease_hides_a_message__until_it_lapses(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        await pull_one(engine)
        await clock.advance(LEASE_S - 1)
        assert await pull(engine) == []
        await clock.advance(1)
        (message,) = await pull(engine)
        assert (message.id, message.attempts, message.is_suspect) == ("a", 2, True)

    async def test_suspect_comes_alone__at_the_head_of_the_queue(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "suspect", priority=1)
        await lapse(engine, clock)
        await send(engine, "a", "b")
        assert await pull_batches(engine) == [["suspect"], ["a", "b"]]

    async def test_suspect_comes_alone__in_the_middle_of_the_queue(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "suspect", priority=1)
        await lapse(engine, clock)
        await send(engine, "before", "before-2", priority=2)
        await send(engine, "after", "after-2", priority=0)
        assert await pull_batches(engine) == [["before", "before-2"], ["suspect"], ["after", "after-2"]]

    async def test_suspect_comes_alone__among_suspects(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a", "b", "c")
        await pull(engine)
        await clock.advance(LEASE_S)
        batches = await pull_batches(engine)
        assert sorted(batches) == [["a"], ["b"], ["c"]]

    async def test_suspect_comes_alone__in_an_exchange(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "suspect", priority=1)
        await lapse(engine, clock)
        await send(engine, "a")
        exchange = await engine.queue.exchange(QUEUE, [], max_messages=10, lease_s=LEASE_S)
        assert ids_of(exchange.messages) == ["suspect"]

    async def test_suspect_stays_one__when_it_is_released(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "suspect", priority=1)
        await lapse(engine, clock)
        await send(engine, "a")
        await settle(engine, Release((await pull_one(engine)).lease))
        assert await pull_batches(engine) == [["suspect"], ["a"]]

    async def test_suspect_can_be_acked__like_any_other(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        await lapse(engine, clock)
        await settle(engine, Ack((await pull_one(engine)).lease))
        assert await status_of(engine, "a") is MessageStatus.GONE

    @each_settlement
    async def test_settlement_loses__after_the_lease_lapsed(
        self, engine: Engine, clock: FakeClock, settle_as: SettleAs
    ) -> None:
        await send(engine, "a")
        late = await lapse(engine, clock)
        with pytest.raises(LeaseLost):
            await settle(engine, settle_as(late.lease))
        message = await pull_one(engine)
        assert (message.attempts, message.is_suspect) == (2, True)

    @each_settlement
    async def test_settlement_loses__after_the_lease_was_taken_over(
        self, engine: Engine, clock: FakeClock, settle_as: SettleAs
    ) -> None:
        await send(engine, "a")
        late = await lapse(engine, clock)
        holder = await pull_one(engine)
        with pytest.raises(LeaseLost):
            await settle(engine, settle_as(late.lease))
        assert await status_of(engine, "a") is MessageStatus.LEASED
        await settle(engine, Ack(holder.lease))
        assert await status_of(engine, "a") is MessageStatus.GONE

    @each_settlement
    async def test_settlement_loses__after_another_settlement(self, engine: Engine, settle_as: SettleAs) -> None:
        await send(engine, "a")
        message = await pull_one(engine)
        await settle(engine, settle_as(message.lease))
        for again in (Ack, retried, Release, buried):
            with pytest.raises(LeaseLost):
                await settle(engine, again(message.lease))

    @each_settlement
    async def test_settlement_loses__for_a_message_that_never_was(self, engine: Engine, settle_as: SettleAs) -> None:
        with pytest.raises(LeaseLost):
            await settle(engine, settle_as(Lease(MessageId("nothing"), 1)))

    @each_settlement
    async def test_settlement_loses__by_a_lease_on_an_earlier_message_of_the_same_id(
        self, engine: Engine, clock: FakeClock, settle_as: SettleAs
    ) -> None:
        await send(engine, "a")
        late = await lapse(engine, clock)
        await engine.queue.drop(message_ids("a"), reason="to be sent anew")
        await send(engine, "a")
        holder = await pull_one(engine)
        with pytest.raises(LeaseLost):
            await settle(engine, settle_as(late.lease))
        await settle(engine, Ack(holder.lease))

    @each_settlement
    async def test_lost_lease_leaves_nothing_written__of_the_whole_commit(
        self, engine: Engine, clock: FakeClock, settle_as: SettleAs
    ) -> None:
        await send(engine, "a")
        late = await lapse(engine, clock)
        await send(engine, "held", priority=1)
        held = await pull_one(engine)
        with pytest.raises(LeaseLost):
            await engine.writes.commit(
                [
                    Put("record", b"written"),
                    Ack(held.lease),
                    Emit("kind", "subject", b""),
                    settle_as(late.lease),
                    Send(QUEUE, MessageId("sent"), b""),
                ]
            )
        assert await engine.kv.get("record") is None
        assert await engine.events.last_sequence() == 0
        assert await status_of(engine, "sent") is MessageStatus.GONE
        assert await engine.queue.extend([held.lease], lease_s=LEASE_S) == [True]

    async def test_lease_is_lost__the_moment_it_lapses(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a", "b")
        in_time, too_late = await pull(engine)
        await clock.advance(LEASE_S - 1)
        await settle(engine, Ack(in_time.lease))
        await clock.advance(1)
        with pytest.raises(LeaseLost):
            await settle(engine, Ack(too_late.lease))

    async def test_extend_gives_time_from_now__to_a_live_lease(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        message = await pull_one(engine)
        await clock.advance(20)
        assert await engine.queue.extend([message.lease], lease_s=LEASE_S) == [True]
        await clock.advance(LEASE_S - 1)
        assert await pull(engine) == []
        await settle(engine, Ack(message.lease))

    async def test_extend_ends_at_the_new_moment__and_not_later(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        message = await pull_one(engine)
        await clock.advance(20)
        await engine.queue.extend([message.lease], lease_s=LEASE_S)
        await clock.advance(LEASE_S)
        with pytest.raises(LeaseLost):
            await settle(engine, Ack(message.lease))

    async def test_extend_shortens_a_lease__to_a_moment_before_its_end(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        message = await pull_one(engine)
        assert await engine.queue.extend([message.lease], lease_s=5) == [True]
        await clock.advance(5)
        assert ids_of(await pull(engine)) == ["a"]

    async def test_extend_does_not_count_as_an_attempt__however_often(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        message = await pull_one(engine)
        for _ in range(MAX_ATTEMPTS + 1):
            await clock.advance(LEASE_S - 1)
            assert await engine.queue.extend([message.lease], lease_s=LEASE_S) == [True]
        await clock.advance(LEASE_S)
        assert (await pull_one(engine)).attempts == 2

    async def test_extend_says_no__to_a_lapsed_lease(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        message = await lapse(engine, clock)
        assert await engine.queue.extend([message.lease], lease_s=LEASE_S) == [False]
        assert ids_of(await pull(engine)) == ["a"]

    async def test_extend_says_no__to_a_lease_that_was_taken_over(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        late = await lapse(engine, clock)
        holder = await pull_one(engine)
        assert await engine.queue.extend([late.lease], lease_s=2 * LEASE_S) == [False]
        await clock.advance(LEASE_S)
        assert await engine.queue.extend([holder.lease], lease_s=LEASE_S) == [False]

    async def test_extend_answers_in_order__for_leases_of_every_kind(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "lapsed", "acked", "live", "live-2")
        lapsed = await pull_one(engine, lease_s=1)
        acked, live, live_2 = await pull(engine)
        await settle(engine, Ack(acked.lease))
        await clock.advance(1)
        unknown = Lease(MessageId("nothing"), 1)
        leases = [live.lease, lapsed.lease, acked.lease, live_2.lease, unknown]
        assert await engine.queue.extend(leases, lease_s=LEASE_S) == [True, False, False, True, False]

    async def test_extend_answers_nothing__for_no_leases(self, engine: Engine) -> None:
        assert await engine.queue.extend([], lease_s=LEASE_S) == []


class SettlementContract:
    """Ack, Retry, Release and Bury, and how a message becomes a dead letter."""

    async def test_settlement_happens_with_the_rest__of_its_commit(self, engine: Engine) -> None:
        await send(engine, "a")
        message = await pull_one(engine)
        await engine.writes.commit([Put("record", b"done"), Ack(message.lease), Send(QUEUE, MessageId("next"), b"")])
        assert await engine.kv.get("record") is not None
        assert await pull_batches(engine) == [["next"]]
        assert await status_of(engine, "a") is MessageStatus.GONE

    async def test_settlement_does_not_happen__when_its_commit_fails(self, engine: Engine) -> None:
        await engine.writes.commit([Put("record", b"there")])
        await send(engine, "a")
        message = await pull_one(engine)
        with pytest.raises(Conflict):
            await engine.writes.commit([Ack(message.lease), Put("record", b"new", if_version=ABSENT)])
        await settle(engine, Ack(message.lease))

    async def test_retry_delivers_at_once__without_a_delay(self, engine: Engine) -> None:
        await send(engine, "a")
        await settle(engine, Retry((await pull_one(engine)).lease, "failed"))
        message = await pull_one(engine)
        assert (message.attempts, message.is_suspect) == (2, False)

    async def test_retry_delivers_later__with_a_delay(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        await settle(engine, Retry((await pull_one(engine)).lease, "failed", delay_s=10))
        assert await status_of(engine, "a") is MessageStatus.DELAYED
        await clock.advance(9)
        assert await pull(engine) == []
        await clock.advance(1)
        assert (await pull_one(engine)).attempts == 2

    async def test_retry_delays_longer_than_the_lease__where_it_says_so(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        await settle(engine, Retry((await pull_one(engine)).lease, "failed", delay_s=LEASE_S + 10))
        await clock.advance(LEASE_S)
        assert await pull(engine) == []
        await clock.advance(10)
        message = await pull_one(engine)
        assert (message.attempts, message.is_suspect) == (2, False)

    async def test_retry_keeps_its_error__for_the_operator(self, engine: Engine) -> None:
        await send(engine, "a")
        assert (await find_one(engine, "a")).error is None
        await settle(engine, Retry((await pull_one(engine)).lease, "no answer from the forge — 503"))
        assert (await find_one(engine, "a")).error == "no answer from the forge — 503"

    async def test_release_does_not_count_the_attempt__however_often(self, engine: Engine) -> None:
        await send(engine, "a")
        for _ in range(MAX_ATTEMPTS + 1):
            message = await pull_one(engine)
            assert message.attempts == 1
            await settle(engine, Release(message.lease))
        assert (await find_one(engine, "a")).attempts == 0

    async def test_release_keeps_earlier_attempts__counted(self, engine: Engine) -> None:
        await send(engine, "a")
        await settle(engine, Retry((await pull_one(engine)).lease, "failed"))
        await settle(engine, Release((await pull_one(engine)).lease))
        assert (await pull_one(engine)).attempts == 2

    async def test_release_on_the_last_attempt_delivers_it_again__and_makes_no_dead_letter(
        self, engine: Engine
    ) -> None:
        await send(engine, "a")
        for _ in range(MAX_ATTEMPTS - 1):
            await settle(engine, Retry((await pull_one(engine)).lease, "failed"))
        await settle(engine, Release((await pull_one(engine)).lease))
        assert (await pull_one(engine)).attempts == MAX_ATTEMPTS

    async def test_release_delivers_later__with_a_delay(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        await settle(engine, Release((await pull_one(engine)).lease, delay_s=10))
        assert await status_of(engine, "a") is MessageStatus.DELAYED
        await clock.advance(9)
        assert await pull(engine) == []
        await clock.advance(1)
        assert (await pull_one(engine)).attempts == 1

    async def test_bury_makes_a_dead_letter__on_the_first_attempt(self, engine: Engine, clock: FakeClock) -> None:
        await bury(engine, "a", error="not a skill")
        await clock.advance(LEASE_S)
        assert await pull(engine) == []
        found = await find_one(engine, "a")
        assert (found.status, found.error, found.attempts) == (MessageStatus.DEAD, "not a skill", 1)

    async def test_message_dies__after_exactly_the_allowed_retries(self, engine: Engine) -> None:
        await send(engine, "a")
        for attempt in range(1, MAX_ATTEMPTS + 1):
            message = await pull_one(engine)
            assert message.attempts == attempt
            await settle(engine, Retry(message.lease, f"failure {attempt}"))
        assert await pull(engine) == []
        found = await find_one(engine, "a")
        assert (found.status, found.attempts, found.error) == (MessageStatus.DEAD, MAX_ATTEMPTS, "failure 4")

    async def test_message_dies_at_once__when_the_last_retry_has_a_delay(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await send(engine, "a")
        for _ in range(MAX_ATTEMPTS):
            await settle(engine, Retry((await pull_one(engine)).lease, "failed", delay_s=10))
            last = await status_of(engine, "a")
            await clock.advance(10)
        assert last is MessageStatus.DEAD
        assert await pull(engine) == []

    async def test_message_dies__after_exactly_the_allowed_lapses(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        for attempt in range(1, MAX_ATTEMPTS + 1):
            assert (await lapse(engine, clock)).attempts == attempt
        assert await pull(engine) == []
        found = await find_one(engine, "a")
        assert (found.status, found.attempts, found.error) == (MessageStatus.DEAD, MAX_ATTEMPTS, LAPSED_ERROR)

    @pytest.mark.parametrize(
        ("endings", "last_error"),
        [("RLRL", LAPSED_ERROR), ("LLLR", "it failed"), ("RRRL", LAPSED_ERROR), ("LRLR", "it failed")],
    )
    async def test_message_dies_with_its_last_error__after_failures_and_lapses(
        self, engine: Engine, clock: FakeClock, endings: str, last_error: str
    ) -> None:
        await send(engine, "a")
        for ending in endings:
            if ending == "L":
                await lapse(engine, clock)
            else:
                await settle(engine, retried((await pull_one(engine)).lease))
        found = await find_one(engine, "a")
        assert (found.status, found.error) == (MessageStatus.DEAD, last_error)

    async def test_dead_letter_keeps_its_body_and_stays__as_time_passes(self, engine: Engine, clock: FakeClock) -> None:
        await bury(engine, "a")
        await clock.advance(30 * 24 * 3600)
        await engine.writes.purge()
        found = await find_one(engine, "a")
        assert (found.status, found.body) == (MessageStatus.DEAD, b"{}")

    async def test_waiting_message_stays__as_time_passes(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        await clock.advance(30 * 24 * 3600)
        await engine.writes.purge()
        assert ids_of(await pull(engine)) == ["a"]


class ExchangeContract:
    """Commits that ride along with a pull."""

    async def test_exchange_pulls_and_commits__in_one_call(self, engine: Engine) -> None:
        await send(engine, "a", "b")
        (first,) = await pull(engine, max_messages=1)
        exchange = await engine.queue.exchange(QUEUE, [[Ack(first.lease)]], max_messages=10, lease_s=LEASE_S)
        assert [type(outcome) for outcome in exchange.outcomes] == [Committed]
        assert ids_of(exchange.messages) == ["b"]
        assert await status_of(engine, "a") is MessageStatus.GONE

    async def test_exchange_leases_what_it_pulls__like_receive(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "a")
        exchange = await engine.queue.exchange(QUEUE, [], max_messages=10, lease_s=LEASE_S)
        assert [message.attempts for message in exchange.messages] == [1]
        await clock.advance(LEASE_S - 1)
        assert await engine.queue.extend([exchange.messages[0].lease], lease_s=1) == [True]
        await clock.advance(1)
        assert (await pull_one(engine)).is_suspect

    async def test_exchange_pulls_at_most__what_it_was_asked_for(self, engine: Engine) -> None:
        await send(engine, "a", "b", "c")
        exchange = await engine.queue.exchange(QUEUE, [], max_messages=2, lease_s=LEASE_S)
        assert ids_of(exchange.messages) == ["a", "b"]

    async def test_exchange_pulls_nothing__when_asked_for_nothing(self, engine: Engine) -> None:
        await send(engine, "a")
        exchange = await engine.queue.exchange(QUEUE, [[Put("k", b"v")]], max_messages=0, lease_s=LEASE_S)
        assert exchange.messages == []
        assert isinstance(exchange.outcomes[0], Committed)
        assert (await pull_one(engine)).attempts == 1

    async def test_exchange_does_not_wait__for_a_message(self, engine: Engine) -> None:
        async with asyncio.timeout(REAL_LIMIT_S):
            exchange = await engine.queue.exchange(QUEUE, [], max_messages=10, lease_s=LEASE_S)
        assert exchange == ([], [])

    @pytest.mark.parametrize("settle_as", [pytest.param(retried, id="retry"), pytest.param(Release, id="release")])
    async def test_exchange_pulls_what_its_commits_gave_back__at_once(
        self, engine: Engine, settle_as: SettleAs
    ) -> None:
        await send(engine, "a")
        message = await pull_one(engine)
        exchange = await engine.queue.exchange(QUEUE, [[settle_as(message.lease)]], max_messages=10, lease_s=LEASE_S)
        assert ids_of(exchange.messages) == ["a"]
        assert exchange.messages[0].lease != message.lease

    async def test_exchange_pulls_what_its_commits_sent__at_once(self, engine: Engine) -> None:
        sends = [[Send(QUEUE, MessageId("a"), b"")], [Send(QUEUE, MessageId("b"), b"")]]
        exchange = await engine.queue.exchange(QUEUE, sends, max_messages=10, lease_s=LEASE_S)
        assert ids_of(exchange.messages) == ["a", "b"]

    async def test_exchange_carries_out_the_others__when_one_has_lost_its_lease(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await send(engine, "late")
        late = await lapse(engine, clock)
        await send(engine, "a", "b", priority=1)
        a, b = await pull(engine, max_messages=2)
        commits: list[list[Operation]] = [
            [Put("a", b"1"), Ack(a.lease)],
            [Put("late", b"1"), Emit("kind", "late", b""), Ack(late.lease)],
            [Put("b", b"1"), Ack(b.lease)],
        ]
        outcomes, _ = await engine.queue.exchange(QUEUE, commits, max_messages=0, lease_s=LEASE_S)
        assert [type(outcome) for outcome in outcomes] == [Committed, LeaseLost, Committed]
        assert await engine.kv.get("late") is None
        assert await engine.events.last_sequence() == 0
        assert set(await engine.queue.find(message_ids("a", "b", "late"))) == {"late"}

    async def test_exchange_gives_outcomes_in_order__with_versions_that_grow(self, engine: Engine) -> None:
        commits = [[Put(f"k{number}", b"")] for number in range(5)]
        outcomes, _ = await engine.queue.exchange(QUEUE, commits, max_messages=0, lease_s=LEASE_S)
        versions = [outcome.version for outcome in outcomes if isinstance(outcome, Committed)]
        entries = [await engine.kv.get(f"k{number}") for number in range(5)]
        assert versions == [entry.version for entry in entries if entry is not None]
        assert versions == sorted(set(versions))
        assert len(versions) == 5

    async def test_exchange_judges_each_commit__after_those_before_it(self, engine: Engine) -> None:
        commits = [[Put("k", value, if_version=ABSENT)] for value in (b"first", b"second")]
        outcomes, _ = await engine.queue.exchange(QUEUE, commits, max_messages=0, lease_s=LEASE_S)
        assert [type(outcome) for outcome in outcomes] == [Committed, Conflict]
        entry = await engine.kv.get("k")
        assert entry is not None
        assert entry.value == b"first"

    async def test_exchange_carries_out_the_others__when_one_breaks_a_limit(self, engine: Engine) -> None:
        commits: list[list[Operation]] = [
            [Put("a", b"")],
            [Put("twice", b""), Put("twice", b"")],
            [Send(QUEUE, MessageId("huge"), b"x" * (MAX_MESSAGE_BYTES + 1))],
            [Put("b", b"")],
        ]
        outcomes, _ = await engine.queue.exchange(QUEUE, commits, max_messages=0, lease_s=LEASE_S)
        assert [type(outcome) for outcome in outcomes] == [Committed, InvalidInput, MessageTooLarge, Committed]
        assert [await engine.kv.get(key) is not None for key in ("a", "twice", "b")] == [True, False, True]

    async def test_exchange_carries_out_the_others__when_one_holds_text_that_is_not_unicode(
        self, engine: Engine
    ) -> None:
        await send(engine, "a", "b")
        a, b = await pull(engine)
        commits = [[Retry(a.lease, "no such file: \udcff")], [Ack(b.lease)]]
        outcomes, _ = await engine.queue.exchange(QUEUE, commits, max_messages=0, lease_s=LEASE_S)
        assert isinstance(outcomes[0], Committed | VskillError)
        assert isinstance(outcomes[1], Committed)
        assert await status_of(engine, "b") is MessageStatus.GONE

    async def test_exchange_rolls_back_a_commit__that_fails_in_its_last_operation(self, engine: Engine) -> None:
        await send(engine, "a")
        commits: list[list[Operation]] = [
            [Put("k", b""), Emit("kind", "k", b""), Send(QUEUE, MessageId("a"), b"again")],
            [Put("other", b"")],
        ]
        outcomes, messages = await engine.queue.exchange(QUEUE, commits, max_messages=10, lease_s=LEASE_S)
        assert [type(outcome) for outcome in outcomes] == [Conflict, Committed]
        assert await engine.kv.get("k") is None
        assert await engine.events.last_sequence() == 0
        assert [(message.id, message.body) for message in messages] == [("a", b"{}")]

    @pytest.mark.parametrize("max_messages", [-1, MAX_RECEIVE + 1])
    async def test_exchange_refuses_a_bad_limit__before_any_commit(self, engine: Engine, max_messages: int) -> None:
        with pytest.raises(InvalidInput):
            await engine.queue.exchange(QUEUE, [[Put("k", b"")]], max_messages=max_messages, lease_s=LEASE_S)
        assert await engine.kv.get("k") is None


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
        async with asyncio.timeout(REAL_LIMIT_S):
            answers = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(answer) for answer in answers] == [EngineClosed] * len(calls)

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
            cursor = page.cursor


@dataclass(slots=True)
class ModelMessage:
    """What the contract says of one message. `suspect` is None where it says nothing."""

    priority: int
    at_ms: float
    status: MessageStatus = MessageStatus.WAITING
    attempts: int = 0
    error: str | None = None
    suspect: bool | None = False
    lease: Lease | None = None


@dataclass(slots=True)
class QueueModel:
    """A queue by the plain reading of its contract."""

    clock: FakeClock
    messages: dict[str, ModelMessage] = field(default_factory=dict)

    def pass_time(self) -> None:
        """End what is over by now."""
        for message in self.messages.values():
            if message.at_ms > self.clock.now_ms():
                continue
            if message.status is MessageStatus.DELAYED:
                message.status = MessageStatus.WAITING
            elif message.status is MessageStatus.LEASED:
                message.suspect, message.error = True, LAPSED_ERROR
                self.end_attempt(message)

    def end_attempt(self, message: ModelMessage, *, delay_s: float = 0.0) -> None:
        """An attempt failed or lapsed."""
        if message.attempts >= MAX_ATTEMPTS:
            message.status = MessageStatus.DEAD
        else:
            self.make_ready(message, delay_s=delay_s)

    def make_ready(self, message: ModelMessage, *, delay_s: float = 0.0) -> None:
        """Deliver now or after a delay."""
        message.status = MessageStatus.DELAYED if delay_s else MessageStatus.WAITING
        message.at_ms = self.clock.now_ms() + delay_s * 1000

    def lease(self, pulled: Message, *, lease_s: float) -> None:
        """Note a delivery, which must be of a message that waits."""
        message = self.messages[pulled.id]
        assert message.status is MessageStatus.WAITING
        message.attempts += 1
        assert pulled.attempts == message.attempts
        assert message.suspect in (None, pulled.is_suspect)
        message.status, message.lease = MessageStatus.LEASED, pulled.lease
        message.at_ms = self.clock.now_ms() + lease_s * 1000

    def holds(self, lease: Lease) -> bool:
        """Whether the lease is live."""
        message = self.messages.get(lease.message_id)
        return message is not None and message.status is MessageStatus.LEASED and message.lease == lease

    def settle(self, settlement: Settlement) -> None:
        """Carry out a settlement by a live lease."""
        message = self.messages[settlement.lease.message_id]
        match settlement:
            case Ack():
                del self.messages[settlement.lease.message_id]
            case Retry(error=error, delay_s=delay_s):
                message.error, message.suspect = error, None
                self.end_attempt(message, delay_s=delay_s)
            case Release(delay_s=delay_s):
                message.attempts -= 1
                self.make_ready(message, delay_s=delay_s)
            case Bury(error=error):
                message.error, message.status = error, MessageStatus.DEAD

    def requeue(self, id: str) -> bool:
        """Deliver from the start what is dead or delayed."""
        message = self.messages.get(id)
        if message is None or message.status not in (MessageStatus.DEAD, MessageStatus.DELAYED):
            return False
        message.attempts, message.suspect = 0, None
        self.make_ready(message)
        return True

    def drop(self, id: str) -> bool:
        """Remove what is not leased."""
        message = self.messages.get(id)
        if message is None or message.status is MessageStatus.LEASED:
            return False
        del self.messages[id]
        return True


@dataclass(slots=True)
class ModelRun:
    """One run of steps, carried out on the engine and on the model alike."""

    engine: Engine
    clock: FakeClock
    queue: str
    model: QueueModel
    sent: list[MessageId] = field(default_factory=list)
    leases: list[Lease] = field(default_factory=list)

    async def step(self, name: str, which: int, amount: int) -> None:
        """Do one thing on both sides and compare what they say."""
        self.model.pass_time()
        match name:
            case "send":
                await self._send(priority=which % 3, delay_s=amount)
            case "pull":
                await self._pull(max_messages=which % 4 + 1, lease_s=amount + 1)
            case "pass":
                await self.clock.advance(amount + 1)
            case "extend" if self.leases:
                await self._extend(self.leases[which % len(self.leases)], lease_s=amount + 1)
            case "requeue" if self.sent:
                await self._requeue(self.sent[which % len(self.sent)])
            case "drop" if self.sent:
                await self._drop(self.sent[which % len(self.sent)])
            case _ if self.leases:
                await self._settle(name, self.leases[which % len(self.leases)], delay_s=amount)
        self.model.pass_time()
        await self._compare()

    async def _send(self, *, priority: int, delay_s: float) -> None:
        id = MessageId(f"{self.queue}-{len(self.sent)}")
        self.sent.append(id)
        await send(self.engine, id, queue=self.queue, priority=priority, delay_s=delay_s)
        self.model.messages[id] = message = ModelMessage(priority, at_ms=0)
        self.model.make_ready(message, delay_s=delay_s)

    async def _pull(self, *, max_messages: int, lease_s: float) -> None:
        pulled = await pull(self.engine, queue=self.queue, max_messages=max_messages, lease_s=lease_s)
        waiting = [m for m in self.model.messages.values() if m.status is MessageStatus.WAITING]
        assert len(pulled) <= max_messages
        assert bool(pulled) == bool(waiting)
        assert len(pulled) == 1 or not any(message.is_suspect for message in pulled)
        for message in pulled:
            self.model.lease(message, lease_s=lease_s)
            self.leases.append(message.lease)
        left = [m.priority for m in waiting if m.status is MessageStatus.WAITING]
        priorities = [message.priority for message in pulled]
        assert priorities == sorted(priorities, reverse=True)
        assert not (pulled and left) or priorities[-1] >= max(left)

    async def _settle(self, name: str, lease: Lease, *, delay_s: float) -> None:
        settlement: Settlement
        match name:
            case "ack":
                settlement = Ack(lease)
            case "retry":
                settlement = Retry(lease, f"failed with {lease.token}", delay_s=delay_s)
            case "release":
                settlement = Release(lease, delay_s=delay_s)
            case _:
                settlement = Bury(lease, "hopeless")
        if self.model.holds(lease):
            await settle(self.engine, settlement)
            self.model.settle(settlement)
        else:
            with pytest.raises(LeaseLost):
                await settle(self.engine, settlement)

    async def _extend(self, lease: Lease, *, lease_s: float) -> None:
        is_live = self.model.holds(lease)
        assert await self.engine.queue.extend([lease], lease_s=lease_s) == [is_live]
        if is_live:
            self.model.messages[lease.message_id].at_ms = self.clock.now_ms() + lease_s * 1000

    async def _requeue(self, id: MessageId) -> None:
        assert await self.engine.queue.requeue([id]) == ([id] if self.model.requeue(id) else [])

    async def _drop(self, id: MessageId) -> None:
        assert await self.engine.queue.drop([id], reason="test") == ([id] if self.model.drop(id) else [])

    async def _compare(self) -> None:
        found = await self.engine.queue.find(self.sent)
        told = {id: (info.status, info.attempts, info.error) for id, info in found.items()}
        messages = self.model.messages
        assert told == {id: (message.status, message.attempts, message.error) for id, message in messages.items()}
        assert all(messages[id].suspect in (None, info.is_suspect) for id, info in found.items())
        counts = Counter(message.status for message in messages.values())
        stats = await self.engine.queue.stats(self.queue)
        assert (stats.waiting, stats.delayed, stats.leased, stats.dead) == (
            counts[MessageStatus.WAITING],
            counts[MessageStatus.DELAYED],
            counts[MessageStatus.LEASED],
            counts[MessageStatus.DEAD],
        )


STEPS = (
    "send",
    "send",
    "pull",
    "pull",
    "pass",
    "ack",
    "retry",
    "retry",
    "release",
    "bury",
    "extend",
    "requeue",
    "drop",
)
_fresh_queues = itertools.count()


class ModelContract:
    """Whole lives of messages, at random, against a plain model."""

    @settings(
        max_examples=40,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 30), st.integers(0, 3)), max_size=40))
    async def test_queue_agrees_with_the_plain_model__in_any_run_of_steps(
        self, engine: Engine, clock: FakeClock, steps: list[tuple[str, int, int]]
    ) -> None:
        run = ModelRun(engine, clock, f"queue-{next(_fresh_queues)}", QueueModel(clock))
        for name, which, amount in steps:
            await run.step(name, which, amount)


class QueueContract(
    DeliveryContract,
    WaitingContract,
    LeaseContract,
    SettlementContract,
    ExchangeContract,
    OperatorContract,
    ModelContract,
):
    """The whole contract of `ports.queue.Queue`."""
