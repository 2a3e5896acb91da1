"""Leases: what they allow, when they lapse, and that an old one is worthless."""

from __future__ import annotations

import pytest

from vskill_platform.domain.delivery import MAX_ATTEMPTS
from vskill_platform.domain.errors import (
    LeaseLost,
)
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.commit import (
    Ack,
    Emit,
    Lease,
    Put,
    Release,
    Send,
)
from vskill_platform.ports.engine import Engine
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.queue_contract.steps import (
    LEASE_S,
    QUEUE,
    SettleAs,
    buried,
    each_settlement,
    ids_of,
    lapse,
    message_ids,
    pull,
    pull_batches,
    pull_one,
    retried,
    send,
    settle,
    status_of,
)


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
