"""Settling and pulling in one round trip."""

from __future__ import annotations

import asyncio

import pytest

from vskill_platform.domain.errors import (
    Conflict,
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
    Committed,
    Emit,
    Operation,
    Put,
    Release,
    Retry,
    Send,
)
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.queue import MAX_RECEIVE
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.queue_contract.steps import (
    LEASE_S,
    QUEUE,
    SettleAs,
    ids_of,
    lapse,
    message_ids,
    pull,
    pull_one,
    retried,
    send,
    status_of,
)
from vskill_platform.testing.waits import LIMIT_S


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
        async with asyncio.timeout(LIMIT_S):
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
        commits: list[list[Operation]] = [[Retry(a.lease, "no such file: \udcff")], [Ack(b.lease)]]
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
