"""How the registry stands: its queue and its submissions."""

from __future__ import annotations

import msgspec

from vskill_platform import __version__
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.ports.commit import TellsTrouble
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


class Health(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The answer of a registry that can read. `status` is `ok`, or `degraded` where `trouble` says why it cannot write."""

    status: str
    version: str
    queue: QueueHealth
    submissions: dict[str, int]
    trouble: str | None = None


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
    trouble = env.writes.trouble if isinstance(env.writes, TellsTrouble) else None
    return Health(
        status="ok" if trouble is None else "degraded",
        version=__version__,
        queue=queue,
        submissions=await count_submissions(),
        trouble=None if trouble is None else f"{trouble.code}: {trouble.message}",
    )
