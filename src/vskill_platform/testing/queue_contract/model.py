"""Random steps against a plain model of the queue."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vskill_platform.domain.delivery import LAPSED_ERROR, MAX_ATTEMPTS
from vskill_platform.domain.errors import (
    LeaseLost,
)
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.commit import (
    Ack,
    Bury,
    Lease,
    Release,
    Retry,
    Settlement,
)
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.queue import Message
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.queue_contract.steps import (
    pull,
    send,
    settle,
)


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
