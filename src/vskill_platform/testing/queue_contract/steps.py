"""The steps that the queue's contract is told in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest

from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.commit import (
    Ack,
    Bury,
    Lease,
    Release,
    Retry,
    Send,
    Settlement,
)
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.queue import Message, MessageInfo
from vskill_platform.testing.clock import FakeClock

T = TypeVar("T")
QUEUE = "scans"
OTHER_QUEUE = "notices"
LEASE_S = 30.0
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
