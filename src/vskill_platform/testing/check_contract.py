"""What the checks on leases and on messages hold a commit to, to be inherited by an engine's test module."""

from __future__ import annotations

import pytest

from vskill_platform.domain.errors import Conflict, LeaseLost
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.commit import Ack, Bury, CheckLease, CheckStatus, Lease, Put, Release, Retry
from vskill_platform.ports.engine import Engine
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.queue_contract.steps import LEASE_S, pull_one, send, settle

M = MessageId("m")


async def bring_to(engine: Engine, status: MessageStatus) -> None:
    """A message `m` with this status."""
    if status is MessageStatus.GONE:
        return
    await send(engine, "m")
    if status is MessageStatus.WAITING:
        return
    message = await pull_one(engine)
    if status is MessageStatus.DELAYED:
        await settle(engine, Retry(message.lease, "later", 60))
    elif status is MessageStatus.DEAD:
        await settle(engine, Bury(message.lease, "hopeless"))


class CheckContract:
    """`CheckLease` and `CheckStatus`."""

    async def test_check_lease_is_met_and_settles_nothing__while_the_lease_is_live(self, engine: Engine) -> None:
        await send(engine, "m")
        message = await pull_one(engine)
        await engine.writes.commit([CheckLease(message.lease), Put("k", b"")])
        await engine.writes.commit([CheckLease(message.lease), Ack(message.lease)])
        assert await engine.queue.find([M]) == {}

    async def test_check_lease_is_lost__when_the_lease_lapsed(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "m")
        message = await pull_one(engine)
        clock.shift(LEASE_S)
        await self._is_lost(engine, message.lease)

    async def test_check_lease_is_lost__when_another_took_over(self, engine: Engine, clock: FakeClock) -> None:
        await send(engine, "m")
        old = await pull_one(engine)
        clock.shift(LEASE_S)
        new = await pull_one(engine)
        await self._is_lost(engine, old.lease)
        await engine.writes.commit([CheckLease(new.lease)])

    async def test_check_lease_is_lost__when_the_message_was_settled(self, engine: Engine) -> None:
        await send(engine, "m")
        message = await pull_one(engine)
        await settle(engine, Release(message.lease))
        await self._is_lost(engine, message.lease)

    async def test_check_lease_is_lost__for_a_message_that_never_was(self, engine: Engine) -> None:
        await self._is_lost(engine, Lease(MessageId("never"), 1))

    async def _is_lost(self, engine: Engine, lease: Lease) -> None:
        with pytest.raises(LeaseLost):
            await engine.writes.commit([Put("k", b""), CheckLease(lease)])
        assert await engine.kv.get("k") is None

    @pytest.mark.parametrize("actual", MessageStatus)
    async def test_check_status_is_met_by_that_status_alone(self, engine: Engine, actual: MessageStatus) -> None:
        await bring_to(engine, actual)
        await engine.writes.commit([CheckStatus(M, actual)])
        for other in set(MessageStatus) - {actual}:
            with pytest.raises(Conflict):
                await engine.writes.commit([Put("k", b""), CheckStatus(M, other)])
        assert await engine.kv.get("k") is None

    async def test_check_status_sees_what_time_has_done(self, engine: Engine, clock: FakeClock) -> None:
        await bring_to(engine, MessageStatus.LEASED)
        clock.shift(LEASE_S)
        await engine.writes.commit([CheckStatus(M, MessageStatus.WAITING)])

    async def test_check_status_is_judged_before_the_commit_itself(self, engine: Engine) -> None:
        await send(engine, "m")
        message = await pull_one(engine)
        await engine.writes.commit([Ack(message.lease), CheckStatus(M, MessageStatus.LEASED)])
        await engine.writes.commit([CheckStatus(M, MessageStatus.GONE)])
