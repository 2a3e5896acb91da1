"""What a process says of the machine it runs on: room on its disk, and whether its clock can be believed."""

from __future__ import annotations

import asyncio
import re
import shutil
import socket
from pathlib import Path
from typing import NamedTuple

from vskill_platform.domain.errors import VskillError
from vskill_platform.ports.kv import TellsTime
from vskill_platform.stores.machines import MachineReport, find_machine, keep_machine
from vskill_platform.worker_context import current_env

FORGOTTEN_MS = 3_600_000
"""A clock that has been behind itself for this long was wrong before, not now."""
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9._-]")


class Room(NamedTuple):
    """Bytes on a disk, and which folder they are for."""

    free_bytes: int
    total_bytes: int
    folder: str


def host_name() -> str:
    """The name of this machine, as alerts and records have it."""
    return _NOT_IN_NAME.sub("-", socket.gethostname())[:200] or "unnamed"


async def report_machine(*, host: str | None = None) -> MachineReport:
    """Look at this machine and write down what it is like. Raises StoreUnavailable where that cannot be kept."""
    env = current_env("clock")
    name = host or host_name()
    now_ms = env.clock.now_ms()
    before = await find_machine(name)
    latest_ms, back_since_ms = _latest(before, now_ms)
    room, skew_ms, trouble = None, None, []
    try:
        room = await asyncio.to_thread(free_room, env.settings.data)
    except OSError as error:
        trouble.append(f"its disk: {error.strerror or error}")
    try:
        skew_ms = await _skew_ms(latest_ms)
    except VskillError as error:
        trouble.append(f"the database's clock: {error.message}")
    report = MachineReport(
        host=name,
        at_ms=now_ms,
        latest_ms=latest_ms,
        back_since_ms=back_since_ms,
        folder=env.settings.data if room is None else room.folder,
        free_bytes=None if room is None else room.free_bytes,
        total_bytes=None if room is None else room.total_bytes,
        skew_ms=skew_ms,
        trouble="; ".join(trouble) or None,
    )
    await keep_machine(report)
    return report


def free_room(data: str) -> Room:
    """Room where a folder is, or will be, and its own folders, any of which may be a disk of its own: the least of it.

    Raises OSError where nobody can say.
    """
    folder = Path(data).absolute()
    place = next(path for path in (folder, *folder.parents) if path.exists())
    inner = [path for path in place.iterdir() if path.is_dir()] if place == folder else []
    usages = [shutil.disk_usage(path) for path in (place, *inner)]
    return min(Room(usage.free, usage.total, str(folder)) for usage in usages)


def _latest(before: MachineReport | None, now_ms: int) -> tuple[int, int | None]:
    """The latest time this clock has shown, and since when it is behind that by its own account; None where it is not."""
    if before is None or now_ms >= before.latest_ms:
        return now_ms, None
    since_ms = now_ms if before.back_since_ms is None else min(before.back_since_ms, now_ms)
    if now_ms - since_ms >= FORGOTTEN_MS:
        return now_ms, None
    return before.latest_ms, since_ms


async def _skew_ms(latest_ms: int) -> float:
    """How far this clock is behind the database's; where there is no other clock, behind what it has shown itself."""
    env = current_env("kv")
    if not isinstance(env.kv, TellsTime):
        return float(latest_ms - env.clock.now_ms())
    before_ms = env.clock.now_ms()
    server_ms = await env.kv.server_ms()
    return server_ms - (before_ms + env.clock.now_ms()) / 2
