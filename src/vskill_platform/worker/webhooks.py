"""The loop that follows the event log for webhooks and sends what is due."""

from __future__ import annotations

import asyncio

import structlog

from vskill_platform.ingest.url_guard import Resolve
from vskill_platform.notify.delivering import Lanes
from vskill_platform.notify.following import follow_events
from vskill_platform.notify.sending import Sender
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.worker.cron import wait_at_most
from vskill_platform.worker.pulse import Pulse
from vskill_platform.worker_context import run_with_worker_env

TURN_LIMIT_S = 120.0
_FOLLOW_WAIT_S = 5.0
_NOBODY_WAIT_S = 2.0
_BETWEEN_PAGES_S = 0.1
_POLL_S = 2.0
_TROUBLE_WAIT_S = 2.0
_log = structlog.get_logger(__name__)


class WebhookLoop:
    """Sends webhooks until stopped. Any number of processes may do so side by side."""

    def __init__(self, env: WorkerEnv, *, resolve: Resolve | None = None) -> None:
        self._env = env
        self._resolve = resolve
        self._stopping = asyncio.Event()
        self._lanes: Lanes | None = None
        self.pulse = Pulse(limit_s=TURN_LIMIT_S)

    def stop(self) -> None:
        """Begin nothing more; `run` returns when what is being sent has ended, or its grace time has."""
        self._stopping.set()
        if self._lanes is not None:
            self._lanes.changed.set()

    async def run(self) -> None:
        """Follow and send until stopped."""
        await run_with_worker_env(self._env, self._run)

    async def _run(self) -> None:
        sender = Sender(self._env.settings, resolve=self._resolve)
        lanes = self._lanes = Lanes(sender)
        try:
            async with asyncio.TaskGroup() as group:
                follower = group.create_task(self._follow(lanes))
                while not self._stopping.is_set():
                    self.pulse.beat()
                    await self._send_due(lanes)
                follower.cancel()
        finally:
            self.pulse.rest()
            await self._drain(lanes)
            await sender.close()

    async def _follow(self, lanes: Lanes) -> None:
        while True:
            try:
                followed = await follow_events(wait_s=_FOLLOW_WAIT_S)
            except Exception as error:  # whatever webhooks meet, the worker goes on
                _log.error("webhook_follower_trouble", error=f"{type(error).__name__}: {error}")
                await self._env.clock.sleep(_TROUBLE_WAIT_S)
                continue
            if followed is None:
                await self._env.clock.sleep(_NOBODY_WAIT_S)
            elif followed.events:
                lanes.changed.set()
                await self._env.clock.sleep(_BETWEEN_PAGES_S)

    async def _send_due(self, lanes: Lanes) -> None:
        """One look at what is due, and a wait for a lane to have room, for news, or for a while."""
        lanes.changed.clear()
        try:
            await lanes.start_due()
        except Exception as error:  # whatever webhooks meet, the worker goes on
            _log.error("webhook_sender_trouble", error=f"{type(error).__name__}: {error}")
        await wait_at_most(self._env.clock, lanes.changed, seconds=_POLL_S)

    async def _drain(self, lanes: Lanes) -> None:
        running = lanes.running
        if running:
            _, late = await asyncio.wait(running, timeout=self._env.settings.drain_grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
