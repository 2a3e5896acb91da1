"""What an operator asks one process: is it alive, is it ready, what has it counted.

Served on an address of its own, on loopback unless the operator says otherwise, and never beside the public pages: the
figures tell strangers how busy a registry is and what it is failing at.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
from litestar import Response, Router, get
from litestar.datastructures import State
from litestar.status_codes import HTTP_200_OK, HTTP_503_SERVICE_UNAVAILABLE
from litestar.types import ASGIApp

from vskill_platform import __version__
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.health import read_health
from vskill_platform.web.access import ACCESS, ANYONE
from vskill_platform.web.application import create_app
from vskill_platform.web.metrics import show_metrics
from vskill_platform.worker.pulse import Pulse

_STATE = "process"


@dataclass(slots=True)
class ProcessState:
    """How this process stands, by its own account."""

    role: str
    pulses: Sequence[Pulse] = field(default=())
    is_draining: bool = False

    @property
    def is_alive(self) -> bool:
        """Whether every loop of it still comes round."""
        return all(pulse.is_alive for pulse in self.pulses)


class ProcessHealth(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer of a process."""

    status: str
    role: str
    version: str
    pid: int


@get("/healthz")
async def show_alive(state: State) -> Response[ProcessHealth]:
    """200 while every loop comes round; 503 where one hangs: then a restart helps. The store is not asked."""
    process: ProcessState = state[_STATE]
    return _answer(process, status="alive" if process.is_alive else "hanging", is_well=process.is_alive)


@get("/readyz")
async def show_ready(state: State) -> Response[ProcessHealth]:
    """200 where the process can do its work; 503 while it drains, hangs, or cannot read its store."""
    process: ProcessState = state[_STATE]
    if process.is_draining or not process.is_alive:
        return _answer(process, status="draining" if process.is_draining else "hanging", is_well=False)
    await read_health()
    return _answer(process, status="ready", is_well=True)


def create_health_app(env: WorkerEnv, process: ProcessState) -> ASGIApp:
    """The application on the health address."""
    routes = Router("/", route_handlers=[show_alive, show_ready, show_metrics], opt={ACCESS: ANYONE})
    return create_app(env, [routes], state={_STATE: process})


def _answer(process: ProcessState, *, status: str, is_well: bool) -> Response[ProcessHealth]:
    health = ProcessHealth(status=status, role=process.role, version=__version__, pid=os.getpid())
    code = HTTP_200_OK if is_well else HTTP_503_SERVICE_UNAVAILABLE
    return Response(health, status_code=code, headers={"Cache-Control": "no-store"})
