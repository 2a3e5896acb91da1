"""Waiting for a message: what wakes a receiver, and that waiting takes nothing."""

from __future__ import annotations

import asyncio

import pytest

from vskill_platform.domain.delivery import MAX_ATTEMPTS
from vskill_platform.domain.ids import MessageId
from vskill_platform.ports.commit import (
    Release,
    Send,
)
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.queue import Message
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.queue_contract.steps import (
    LEASE_S,
    OTHER_QUEUE,
    QUEUE,
    SettleAs,
    bury,
    ids_of,
    lapse,
    message_ids,
    pull,
    pull_one,
    retried,
    send,
    settle,
)
from vskill_platform.testing.waits import LIMIT_S, check_asleep, finish, in_background


class WaitingContract:
    """`receive` with a wait, and `wait_ready`: what ends them, and what does not."""

    async def test_receive_returns_at_once__where_it_need_not_wait(self, engine: Engine) -> None:
        await send(engine, "a")
        call = engine.queue.receive(QUEUE, max_messages=10, lease_s=LEASE_S, wait_s=60)
        async with asyncio.timeout(LIMIT_S):
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
            async with asyncio.timeout(LIMIT_S):
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
        async with asyncio.timeout(LIMIT_S):
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
