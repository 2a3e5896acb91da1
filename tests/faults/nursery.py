"""A process that has everything loaded and forks processes of the registry: each starts in a tenth of a second.

Run as `python -m tests.faults.nursery`. It takes one order a line on standard input and answers with the process id. A child
runs a role of the registry as its command does, through `app`, with two differences: skills are scanned in the process
itself instead of in processes beside it, and it may be doomed to die by SIGKILL at a point of its work. What it says goes
to its log:

    up ADDRESS HEALTH       when it is ready ("-" for an address that it has not)
    dying POINT TIME        right before a planted death
    ended                   when it has come to its end in order
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import time
import traceback
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import uvloop

from tests.faults.doom import Doom, doomed_env
from vskill_platform.app import env as app_env
from vskill_platform.app import processes
from vskill_platform.cli.logs import set_up_logs
from vskill_platform.domain.content import SkillContent, SkillFile
from vskill_platform.domain.scan import ScanReport
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.scanner import NO_CHANGES
from vskill_platform.scanning.tier1.packs import load_rules
from vskill_platform.scanning.tier1.scan import scan_content
from vskill_platform.settings import Settings, load_settings


class Order(msgspec.Struct):
    """What a child is to be: its role (`up` for all), its settings, where it logs, and what it dies of."""

    role: str
    environment: dict[str, str]
    log: str
    doom: Doom | None = None


class InnerScanner:
    """Scans by the real rules in this very process, so that a process starts at once."""

    def __init__(self, settings: Settings) -> None:
        self._rules = load_rules(settings.rules_folder)

    async def __aenter__(self) -> InnerScanner:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def scan(self, content: SkillContent, *, changes: Mapping[str, str] = NO_CHANGES) -> ScanReport:
        return await asyncio.to_thread(scan_content, content, ruleset=self._rules, changes=changes)


LOADED = (open_postgres,)
"""What `app` imports when it is called for."""


def serve() -> None:
    """Fork a child for every order, until standard input ends."""
    _warm_up()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody has to wait for them
    for line in sys.stdin.buffer:
        pid = os.fork()
        if pid == 0:
            _grow(msgspec.json.decode(line, type=Order))
        print(pid, flush=True)


def _warm_up() -> None:
    """Have everything loaded and made that a child would otherwise make for itself."""
    content = SkillContent(files=(SkillFile(path="SKILL.md", content=b"---\nname: a\n---\nHi.\n"),))
    scan_content(content, ruleset=load_rules(""))
    gc.collect()
    gc.freeze()


def _grow(order: Order) -> None:
    """Be the child, and end here."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    code = 1
    try:
        _redirect(order.log)
        _run(order)
        code = 0
        print("ended", flush=True)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(code)


def _redirect(log: str) -> None:
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)


def _run(order: Order) -> None:
    settings = load_settings(order.environment)
    set_up_logs("info")
    app_env.ScannerPool = InnerScanner
    if order.doom is not None:
        processes.open_env = _doomed_opening(order.doom)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        if order.role == "up":
            runner.run(processes.run_registry(settings, on_ready=_tell))
        else:
            runner.run(processes.run_process(settings, processes.Role(order.role), on_ready=_tell))


def _tell(ready: processes.Ready) -> None:
    print(f"up {ready.address or '-'} {ready.health or '-'}", flush=True)


def _doomed_opening(doom: Doom) -> Any:
    opening = processes.open_env

    @asynccontextmanager
    async def open_doomed(*arguments: Any, **options: Any) -> AsyncIterator[WorkerEnv]:
        async with opening(*arguments, **options) as env:
            yield doomed_env(env, doom, die=_die)

    return open_doomed


def _die(point: str) -> None:
    os.write(1, f"dying {point} {time.time()}\n".encode())
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    serve()
