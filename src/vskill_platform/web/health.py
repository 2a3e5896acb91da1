"""Health: whether the registry can read its store, and how its queue stands."""

from __future__ import annotations

import msgspec
from litestar import Response, get
from litestar.status_codes import HTTP_200_OK, HTTP_503_SERVICE_UNAVAILABLE

from vskill_platform import __version__
from vskill_platform.domain.errors import VskillError
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.stores.catalog import count_submissions
from vskill_platform.stores.pause import Pause, get_pause
from vskill_platform.worker_context import current_env


class QueueHealth(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How the submissions queue stands."""

    waiting: int
    delayed: int
    leased: int
    dead: int
    oldest_age_ms: int | None
    paused: Pause | None


class Health(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer of a registry that works."""

    status: str
    version: str
    queue: QueueHealth
    submissions: dict[str, int]


class Unhealthy(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer of a registry that cannot read its store: never a zero, never an empty list."""

    status: str
    version: str
    code: str
    detail: str


async def read_health() -> Health:
    """How the registry stands. Raises StoreUnavailable when that cannot be known."""
    env = current_env("queue")
    stats = await env.queue.stats(SUBMISSIONS_QUEUE)
    queue = QueueHealth(
        waiting=stats.waiting,
        delayed=stats.delayed,
        leased=stats.leased,
        dead=stats.dead,
        oldest_age_ms=None if stats.oldest_ms is None else env.clock.now_ms() - stats.oldest_ms,
        paused=await get_pause(),
    )
    return Health(status="ok", version=__version__, queue=queue, submissions=await count_submissions())


@get("/healthz")
async def healthz() -> Response[Health | Unhealthy]:
    """How the registry stands; 503 when it cannot read its store."""
    try:
        health = await read_health()
    except VskillError as error:
        answer = Unhealthy(status="unavailable", version=__version__, code=error.code, detail=error.message)
        return Response(answer, status_code=HTTP_503_SERVICE_UNAVAILABLE, headers={"Retry-After": "5"})
    return Response(health, status_code=HTTP_200_OK, headers={"Cache-Control": "no-store"})
