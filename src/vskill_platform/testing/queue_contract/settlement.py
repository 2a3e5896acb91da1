"""What ack, retry, release and bury do to a message."""

from __future__ import annotations

import pytest

from vskill_platform.domain.delivery import LAPSED_ERROR, MAX_ATTEMPTS
from vskill_platform.domain.errors import (
    Conflict,
)
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.commit import (
    ABSENT,
    Ack,
    Put,
    Release,
    Retry,
    Send,
)
from vskill_platform.ports.engine import Engine
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.queue_contract.steps import (
    LEASE_S,
    QUEUE,
    bury,
    find_one,
    ids_of,
    lapse,
    pull,
    pull_batches,
    pull_one,
    retried,
    send,
    settle,
    status_of,
)


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
