"""What runs in a process: web, worker, cron, or all of them.

A process serves until SIGTERM or SIGINT and then drains: event streams end at once and come again elsewhere, the web server
accepts nothing more and finishes what it has begun, the worker finishes or gives back what it holds, the cron gives up its
lease. A second signal ends the process at once; what it was doing is done again by another, or at the next start.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Collection
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import structlog

from vskill_platform import __version__, metrics
from vskill_platform.accounts.first_run import offer_first_run
from vskill_platform.app.control import SOCKET_NAME
from vskill_platform.app.env import open_env
from vskill_platform.app.listening import (
    Listening,
    address_of,
    listen_for,
    open_control_listener,
    open_listener,
)
from vskill_platform.app.stores import require_many_processes
from vskill_platform.domain.errors import VskillError
from vskill_platform.domain.scan import Severity
from vskill_platform.pipeline.rules import rules_in_force
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.scanning.tier1.rules import Ruleset
from vskill_platform.settings import PREFIX, Settings, health_place
from vskill_platform.web.app import create_control_app, create_web_app
from vskill_platform.web.live.hub import Hub
from vskill_platform.web.process_health import ProcessState, create_health_app
from vskill_platform.worker.cron import Cron
from vskill_platform.worker.external import external_loop
from vskill_platform.worker.loop import ConsumerLoop
from vskill_platform.worker.machine_reports import MachineReports
from vskill_platform.worker.webhooks import WebhookLoop
from vskill_platform.worker_context import request_env_storage, run_with_worker_env

_log = structlog.get_logger(__name__)


class Role(StrEnum):
    """What a process does for the registry."""

    WEB = "web"
    WORKER = "worker"
    CRON = "cron"


class Ready(NamedTuple):
    """Where a process that is ready can be reached: by everybody, and by its operator.

    `first_run` is the path of the link that makes the first administrator, where there is none. It is for the terminal alone.
    """

    address: str | None
    health: str | None
    first_run: str | None = None


async def run_registry(
    settings: Settings, *, on_ready: Callable[[Ready], None], stopping: asyncio.Event | None = None
) -> None:
    """Serve, consume and sweep in one process until SIGTERM or SIGINT, then drain.

    With an event of the caller's, that ends it and signals are left alone.
    """
    await _run(settings, set(Role), name="up", on_ready=on_ready, stopping=stopping)


async def run_process(settings: Settings, role: Role, *, on_ready: Callable[[Ready], None]) -> None:
    """Do one of the three alone, beside any number of others on the same database. Raises SingleProcessEngine on SQLite."""
    require_many_processes(settings, command=f"vskill-platform {role}")
    await _run(settings, {role}, name=role, on_ready=on_ready, stopping=None)


async def _run(
    settings: Settings,
    roles: Collection[Role],
    *,
    name: str,
    on_ready: Callable[[Ready], None],
    stopping: asyncio.Event | None,
) -> None:
    metrics.BUILD.labels(__version__, name).set(1)
    async with open_env(settings, is_working=Role.WORKER in roles, role=name) as env:
        if Role.WORKER in roles:
            _tell_rules((await run_with_worker_env(env, rules_in_force)).ruleset)
        worker = ConsumerLoop(env) if Role.WORKER in roles else None
        cron = Cron(env) if Role.CRON in roles else None
        external = external_loop(env) if Role.WORKER in roles else None
        webhooks = WebhookLoop(env) if Role.WORKER in roles else None
        machine = MachineReports(env)
        state = ProcessState(
            name, pulses=[part.pulse for part in (worker, external, webhooks, cron) if part is not None]
        )
        hub = Hub(env)
        web, health = _web(env, hub) if Role.WEB in roles else None, _health(env, state)
        first_run = None if web is None else await _offer_first_run(env)
        servers = [server for server in (web, _control(env, hub), health) if server is not None]
        stopping = stopping or _stop_on_signals()
        async with asyncio.TaskGroup() as group:
            for part in (worker, external, webhooks, cron, machine):
                if part is not None:
                    group.create_task(part.run())
            for server in servers:
                group.create_task(server.serve())
            on_ready(Ready(_address(web), _address(health), first_run))
            await stopping.wait()
            _log.info("draining", role=name, grace_s=settings.drain_grace_s)
            state.is_draining = True
            for stoppable in (hub, worker, external, webhooks, cron, machine, *servers):
                if stoppable is not None:
                    stoppable.stop()
        await hub.close()
        _remove_control_socket(settings)


async def _offer_first_run(env: WorkerEnv) -> str | None:
    """The link for the first administrator. A store that takes no writes at the moment is no reason to end."""
    try:
        return await request_env_storage.run(env, offer_first_run)
    except VskillError as error:
        _log.warning("first_run_not_offered", error=error.code)
        return None


def _web(env: WorkerEnv, hub: Hub) -> Listening:
    listener = open_listener(env.settings.host, env.settings.port)
    return listen_for(create_web_app(env, hub=hub), listener, settings=env.settings)


def _control(env: WorkerEnv, hub: Hub) -> Listening | None:
    """The operator's door to a registry that nobody else can open. On PostgreSQL commands open the database themselves."""
    if env.settings.database_url:
        return None
    listener = open_control_listener(Path(env.settings.data) / SOCKET_NAME)
    return listen_for(create_control_app(env, hub=hub), listener, settings=env.settings)


def _health(env: WorkerEnv, state: ProcessState) -> Listening | None:
    place = health_place(env.settings)
    if place is None:
        return None
    listener = open_listener(*place, chosen_by=f"{PREFIX}HEALTH_ADDRESS")
    return listen_for(create_health_app(env, state), listener, settings=env.settings)


def _address(listening: Listening | None) -> str | None:
    return None if listening is None else address_of(listening.listener)


def _remove_control_socket(settings: Settings) -> None:
    if not settings.database_url:
        (Path(settings.data) / SOCKET_NAME).unlink(missing_ok=True)


def _tell_rules(ruleset: Ruleset) -> None:
    """Log which rules are in force where they are not the bundled ones, and warn of those that are off."""
    if ruleset.pack:
        _log.info("rules_loaded", version=ruleset.version, files=[file.name for file in ruleset.pack])
    if ruleset.off:
        critical = [rule.id for rule in ruleset.off.values() if rule.severity is Severity.CRITICAL]
        _log.warning("rules_switched_off", rules=list(ruleset.off), critical=critical)


def _stop_on_signals() -> asyncio.Event:
    """An event that the first SIGTERM or SIGINT sets; the next one has its ordinary effect."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    return stopping
