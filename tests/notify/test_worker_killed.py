"""A worker that is killed in the middle of its deliveries: nothing is lost, and what it had comes again by the same id."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.acceptance.process_group import process_group
from tests.notify.post_office import post_office
from tests.notify.receiver import Receiver
from vskill_platform.domain.webhook import DeliveryStatus
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.ports.clock import SystemClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.git_server import serve_application
from vskill_platform.testing.waits import until

EVENTS = 10
LOOPBACK = {
    "VSKILL_PLATFORM_WEBHOOK_PROTOCOLS": "http",
    "VSKILL_PLATFORM_WEBHOOK_PRIVATE_ADDRESSES": "true",
    "VSKILL_PLATFORM_SCAN_PROCESSES": "1",
    "VSKILL_PLATFORM_WEBHOOK_TIME_LIMIT_S": "1",
}


async def test_deliveries_come_again_by_their_ids__when_their_worker_is_killed(
    postgres_url: str, tmp_path: Path
) -> None:
    receiver = Receiver(gate=asyncio.Event())
    engine = await open_postgres(postgres_url)
    try:
        env = make_env(
            engine,
            clock=SystemClock(),
            folder=tmp_path,
            webhook_protocols="http",
            webhook_private_addresses=True,
        )
        with process_group(postgres_url, tmp_path / "data", **LOOPBACK) as group:
            async with serve_application(receiver) as address, post_office(env) as office:
                made = await office.create(address, "queue.paused")
                await office.emit(*["queue.paused"] * EVENTS)
                doomed = await asyncio.to_thread(group.start, "worker")
                await until(lambda: receiver.waiting == 4, what="a lane is full of what is being sent")
                doomed.process.kill()
                held = {got.id for got in receiver.received}
                unsettled = [one for one in await office.deliveries(made.webhook.id) if one.tries and one.last is None]
                assert receiver.gate is not None
                receiver.gate.set()
                await asyncio.to_thread(group.start, "worker")

                async def all_are_delivered() -> bool:
                    statuses = [one.status for one in await office.deliveries(made.webhook.id)]
                    return statuses == [DeliveryStatus.DELIVERED] * EVENTS

                await until(all_are_delivered, what="the other worker has delivered everything")
        ids = [got.id for got in receiver.received]
        assert len(set(ids)) == EVENTS
        assert {one.id for one in unsettled} == held, "the worker was not killed in the middle of its deliveries"
        assert sorted(ids) == sorted([*set(ids), *held]), "what the dead worker held came twice, and the rest once"
        for got in receiver.received:
            got.check(made.secret, now_s=int(got.headers["webhook-timestamp"]))
    finally:
        await engine.close()
