"""Following and sending by hand, a step at a time, so that tests say when what happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import msgspec

from vskill_platform.domain.webhook import Delivery
from vskill_platform.ingest.url_guard import Resolve
from vskill_platform.notify.delivering import Lanes
from vskill_platform.notify.following import Followed, follow_events
from vskill_platform.notify.sending import Sender
from vskill_platform.notify.webhooks import Made, create_webhook
from vskill_platform.ports.commit import Emit
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.webhook_deliveries import list_deliveries
from vskill_platform.worker_context import run_with_worker_env


@dataclass(slots=True)
class PostOffice:
    """Webhooks of one env."""

    env: WorkerEnv
    lanes: Lanes

    async def create(self, url: str, *kinds: str, owner: str = "") -> Made:
        return await run_with_worker_env(
            self.env, lambda: create_webhook(url, kinds=kinds or ("*",), owner=owner, by="ada")
        )

    async def emit(self, *kinds: str) -> None:
        """One event of each kind, with a field that is nobody's business."""
        data = msgspec.json.encode({"reason": "because", "inner": "private"})
        await self.env.writes.commit([Emit(kind, "queue", data) for kind in kinds])

    async def follow(self) -> Followed | None:
        return await run_with_worker_env(self.env, follow_events)

    async def send_due(self) -> int:
        """Send what is due now, and wait for it."""
        begun = await run_with_worker_env(self.env, self.lanes.start_due)
        if self.lanes.running:
            await asyncio.wait(self.lanes.running)
        return begun

    async def deliver_all(self) -> None:
        """Follow and send until nothing is due."""
        await self.follow()
        while await self.send_due():
            pass

    async def deliveries(self, webhook: str) -> Sequence[Delivery]:
        """The deliveries to a receiver, the oldest first."""
        return list(reversed(await run_with_worker_env(self.env, lambda: list_deliveries(webhook))))


@asynccontextmanager
async def post_office(env: WorkerEnv, *, resolve: Resolve | None = None) -> AsyncIterator[PostOffice]:
    """A post office that is closed at the end."""
    sender = Sender(env.settings, resolve=resolve)
    office = PostOffice(env, Lanes(sender))
    try:
        yield office
    finally:
        for task in office.lanes.running:
            task.cancel()
        await asyncio.gather(*office.lanes.running, return_exceptions=True)
        await sender.close()
