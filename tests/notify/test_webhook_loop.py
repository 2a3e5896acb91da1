"""The loop of a worker that sends webhooks: it follows, sends, tries again at its time, and drains."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from tests.notify.post_office import post_office
from tests.notify.receiver import Receiver
from vskill_platform.domain.errors import StoreUnavailable
from vskill_platform.domain.webhook import DeliveryStatus
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.events import EventPage
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.git_server import serve_application
from vskill_platform.testing.waits import eventually
from vskill_platform.worker.webhooks import WebhookLoop


@asynccontextmanager
async def running(env: WorkerEnv) -> AsyncIterator[WebhookLoop]:
    loop = WebhookLoop(env)
    task = asyncio.create_task(loop.run())
    try:
        yield loop
    finally:
        loop.stop()
        await task


async def passing(clock: FakeClock, receiver: Receiver, *, count: int) -> None:
    """Let time pass until so many requests have come."""

    async def have_come() -> bool:
        await clock.advance(0.5)
        return len(receiver.received) >= count

    await eventually(have_come, what=f"{count} requests have come")


async def test_loop_sends_what_happens_and_tries_again__until_it_is_taken(env: WorkerEnv, clock: FakeClock) -> None:
    receiver = Receiver(statuses=[503, 503, 204])
    async with serve_application(receiver) as address, post_office(env) as office, running(env):
        made = await office.create(address, "queue.*")
        await office.emit("queue.paused")
        await passing(clock, receiver, count=3)

        async def is_delivered() -> bool:
            return [one.status for one in await office.deliveries(made.webhook.id)] == [DeliveryStatus.DELIVERED]

        await eventually(is_delivered, what="the third try is written down")
    sent_s = [int(got.headers["webhook-timestamp"]) for got in receiver.received]
    assert [later - earlier >= wait for earlier, later, wait in zip(sent_s, sent_s[1:], (5, 30), strict=False)] == [
        True,
        True,
    ]


async def test_loop_lets_what_it_sends_end__when_it_is_stopped(env: WorkerEnv, clock: FakeClock) -> None:
    receiver = Receiver(gate=asyncio.Event())
    async with serve_application(receiver) as address, post_office(env) as office:
        made = await office.create(address, "queue.*")
        await office.emit("queue.paused")
        async with running(env) as loop:
            await passing(clock, receiver, count=1)
            loop.stop()
            assert receiver.gate is not None
            receiver.gate.set()
        assert [one.status for one in await office.deliveries(made.webhook.id)] == [DeliveryStatus.DELIVERED]


async def test_loop_goes_on__after_the_log_could_not_be_read(env: WorkerEnv, clock: FakeClock) -> None:
    class Flaky:
        failures = 2

        async def read(self, after: int, *, limit: int = 1000, wait_s: float = 0.0) -> EventPage:
            if self.failures:
                self.failures -= 1
                raise StoreUnavailable("The log is away.")
            return await env.events.read(after, limit=limit, wait_s=wait_s)

    receiver = Receiver()
    flaky = replace(env, events=Flaky())  # type: ignore[arg-type]
    async with serve_application(receiver) as address, post_office(env) as office:
        await office.create(address, "queue.*")
        await office.emit("queue.paused")
        async with running(flaky):
            await passing(clock, receiver, count=1)
    assert [got.kind for got in receiver.received] == ["queue.paused"]
