"""What an operator does to messages within a commit, to be inherited by an engine's test module."""

from __future__ import annotations

import json

import pytest

from vskill_platform.domain.delivery import LAPSED_ERROR, MAX_ATTEMPTS
from vskill_platform.domain.errors import Conflict, InvalidInput, LeaseLost
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.commit import (
    MOVABLE,
    Ack,
    ByHand,
    DropMessage,
    Emit,
    Put,
    Release,
    Reprioritise,
    Requeue,
    Retry,
    Send,
)
from vskill_platform.ports.engine import Engine
from vskill_platform.testing.check_contract import M, bring_to
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.queue_contract.steps import (
    LEASE_S,
    QUEUE,
    bury,
    find_one,
    lapse,
    pull,
    pull_batches,
    pull_one,
    send,
    settle,
    status_of,
)
from vskill_platform.testing.waits import finish, in_background

TOUCHES = [Requeue(M), DropMessage(M, "a test"), Reprioritise(M, 5)]
_NAMES = [type(touch).__name__ for touch in TOUCHES]
_TWICE = [(first, second) for first in TOUCHES for second in TOUCHES]


class ByHandContract:
    """`Requeue`, `DropMessage` and `Reprioritise`."""

    @pytest.mark.parametrize("status", MessageStatus)
    @pytest.mark.parametrize("touch", TOUCHES, ids=_NAMES)
    async def test_touch_is_done_in_its_statuses_and_a_conflict_in_all_others(
        self, engine: Engine, touch: ByHand, status: MessageStatus
    ) -> None:
        await bring_to(engine, status)
        before = await engine.queue.find([M])
        if status in MOVABLE[type(touch)]:
            await engine.writes.commit([Put("k", b""), touch])
            assert await engine.kv.get("k") is not None
            return
        with pytest.raises(Conflict) as refused:
            await engine.writes.commit([Put("k", b""), touch])
        assert refused.value.fields["message_id"] == M
        assert status.value in refused.value.message
        assert await engine.kv.get("k") is None
        assert await engine.queue.find([M]) == before
        assert await engine.events.last_sequence() == 0

    @pytest.mark.parametrize("touch", TOUCHES, ids=_NAMES)
    async def test_touch_is_undone__when_another_condition_of_the_commit_fails(
        self, engine: Engine, touch: ByHand
    ) -> None:
        await bring_to(engine, MessageStatus.DEAD)
        before = await engine.queue.find([M])
        with pytest.raises(Conflict):
            await engine.writes.commit([touch, Put("k", b"", if_version=99)])
        assert await engine.queue.find([M]) == before
        assert await engine.events.last_sequence() == 0

    @pytest.mark.parametrize(("first", "second"), _TWICE)
    async def test_commit_refuses__two_touches_of_one_message(
        self, engine: Engine, first: ByHand, second: ByHand
    ) -> None:
        await bring_to(engine, MessageStatus.DEAD)
        with pytest.raises(InvalidInput):
            await engine.writes.commit([first, second])
        assert await status_of(engine, "m") is MessageStatus.DEAD

    @pytest.mark.parametrize("touch", TOUCHES, ids=_NAMES)
    async def test_touch_is_a_conflict__beside_the_settlement_of_the_same_message(
        self, engine: Engine, touch: ByHand
    ) -> None:
        await send(engine, "m")
        message = await pull_one(engine)
        with pytest.raises(Conflict):
            await engine.writes.commit([Release(message.lease), touch])
        await settle(engine, Ack(message.lease))

    @pytest.mark.parametrize("touch", TOUCHES, ids=_NAMES)
    async def test_touch_does_not_make_room__for_a_message_of_the_same_id(self, engine: Engine, touch: ByHand) -> None:
        await bring_to(engine, MessageStatus.DEAD)
        with pytest.raises(Conflict):
            await engine.writes.commit([touch, Send(QUEUE, M, b"new")])
        assert (await find_one(engine, "m")).body != b"new"

    @pytest.mark.parametrize("touch", TOUCHES, ids=_NAMES)
    async def test_touch_is_a_conflict__for_a_message_that_the_commit_itself_sends(
        self, engine: Engine, touch: ByHand
    ) -> None:
        with pytest.raises(Conflict):
            await engine.writes.commit([Send(QUEUE, M, b""), touch])
        assert await engine.queue.find([M]) == {}

    async def test_requeue_counts_attempts_from_the_start__and_keeps_the_error(self, engine: Engine) -> None:
        await bury(engine, "m")
        await engine.writes.commit([Requeue(M)])
        found = await find_one(engine, "m")
        assert (found.status, found.attempts, found.is_suspect) == (MessageStatus.WAITING, 0, False)
        assert found.error is not None
        for attempt in range(1, MAX_ATTEMPTS + 1):
            message = await pull_one(engine)
            assert message.attempts == attempt
            await settle(engine, Retry(message.lease, "failed"))
        assert await status_of(engine, "m") is MessageStatus.DEAD

    async def test_requeue_delivers_what_lapsed_for_the_last_time__before_anyone_looked(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await send(engine, "m")
        for _ in range(MAX_ATTEMPTS):
            late = await lapse(engine, clock)
        await engine.writes.commit([Requeue(M)])
        assert (await find_one(engine, "m")).error == LAPSED_ERROR
        again = await pull_one(engine)
        assert (again.attempts, again.is_suspect) == (1, False)
        with pytest.raises(LeaseLost):
            await settle(engine, Ack(late.lease))

    async def test_requeued_message_is_delivered_once__when_its_old_delay_ends(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        await send(engine, "m", delay_s=LEASE_S / 2)
        await engine.writes.commit([Requeue(M)])
        await pull_one(engine)
        clock.shift(LEASE_S / 2)
        assert await pull(engine) == []

    async def test_requeue_wakes__who_waits_for_messages(self, engine: Engine, clock: FakeClock) -> None:
        await bury(engine, "m")
        call = engine.queue.receive(QUEUE, max_messages=1, lease_s=LEASE_S, wait_s=60)
        async with in_background(clock, call) as task:
            await engine.writes.commit([Requeue(M)])
            assert [message.id for message in await finish(task)] == ["m"]

    async def test_drop_leaves_its_event__in_its_place_among_those_of_the_commit(self, engine: Engine) -> None:
        await send(engine, "m")
        reason = 'sent "by mistake" \u2603'
        await engine.writes.commit([Emit("before", "", b""), DropMessage(M, reason), Emit("after", "", b"")])
        events = (await engine.events.read(0)).events
        assert [event.kind for event in events] == ["before", "message.dropped", "after"]
        assert events[1].subject == "m"
        assert json.loads(events[1].data) == {"queue": QUEUE, "reason": reason}
        assert await engine.queue.find([M]) == {}
        assert await pull(engine) == []

    async def test_drop_removes_a_message__whose_lease_has_lapsed(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "m")
        late = await lapse(engine, clock)
        await engine.writes.commit([DropMessage(M, "a test")])
        with pytest.raises(LeaseLost):
            await settle(engine, Retry(late.lease, "failed"))
        assert await pull(engine) == []

    async def test_drop_wakes__who_waits_for_events(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "m")
        async with in_background(clock, engine.events.read(0, wait_s=60)) as task:
            await engine.writes.commit([DropMessage(M, "a test")])
            assert [event.subject for event in (await finish(task)).events] == ["m"]

    async def test_reprioritised_message_goes_before_lower_ones__and_behind_equals_that_were_sent_earlier(
        self, engine: Engine
    ) -> None:
        await send(engine, "urgent", priority=5)
        await send(engine, "a", "m", "b")
        await engine.writes.commit([Reprioritise(M, 5)])
        assert [message.id for message in await engine.queue.line(QUEUE)] == ["urgent", "m", "a", "b"]
        assert await pull_batches(engine) == [["urgent", "m", "a", "b"]]

    async def test_reprioritised_message_can_go_to_the_end(self, engine: Engine) -> None:
        await send(engine, "m", "a", "b")
        await engine.writes.commit([Reprioritise(M, -5)])
        assert await pull_batches(engine) == [["a", "b", "m"]]

    @pytest.mark.parametrize("status", [MessageStatus.DELAYED, MessageStatus.DEAD])
    async def test_new_priority_counts__once_the_message_waits_again(
        self, engine: Engine, status: MessageStatus
    ) -> None:
        await bring_to(engine, status)
        await engine.writes.commit([Reprioritise(M, 5)])
        assert await status_of(engine, "m") is status
        await send(engine, "a")
        await engine.writes.commit([Requeue(M)])
        assert (await pull_one(engine)).priority == 5

    async def test_reprioritise_refuses__what_is_no_number_for_the_tables(self, engine: Engine) -> None:
        await send(engine, "m")
        with pytest.raises(InvalidInput):
            await engine.writes.commit([Reprioritise(MessageId("m"), 2**63)])
