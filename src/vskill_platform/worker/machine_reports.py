"""The loop in which a process tells what its machine is like, for alerts."""

from __future__ import annotations

import asyncio

import structlog

from vskill_platform.domain.errors import VskillError
from vskill_platform.notify.machine import report_machine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.worker.cron import wait_at_most
from vskill_platform.worker_context import run_with_worker_env

_log = structlog.get_logger(__name__)


class MachineReports:
    """Reports on the machine as often as alerts are looked for, until stopped."""

    def __init__(self, env: WorkerEnv) -> None:
        self._env = env
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Report no more."""
        self._stopping.set()

    async def run(self) -> None:
        """Report until stopped. A store that cannot be written is logged and tried again the next time."""
        while not self._stopping.is_set():
            try:
                await run_with_worker_env(self._env, report_machine)
            except VskillError as error:
                _log.error("machine_not_reported", code=error.code, error=error.message)
            await wait_at_most(self._env.clock, self._stopping, seconds=self._env.settings.alert_interval_s)
