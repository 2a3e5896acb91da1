"""Facts about the store for whoever watches it: read when asked, never counted along."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from vskill_platform.domain.alert import AlertSeverity
from vskill_platform.domain.ids import SUBMISSION_PREFIX
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.ports.kv import DueIndex
from vskill_platform.ports.queue import QueueStats
from vskill_platform.stores.alerts import open_alerts
from vskill_platform.stores.catalog import count_by_state
from vskill_platform.stores.pause import get_pause
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.submissions import get_stuck_submissions
from vskill_platform.worker_context import current_env

MOST_STUCK = 10_000
"""From this many on, the stuck are not counted further: a watcher that makes an outage worse helps nobody."""
_PAGE = 1000


class StoreFacts(NamedTuple):
    """How the store stands."""

    queue: QueueStats
    oldest_age_s: float
    is_paused: bool
    submissions: dict[SubmissionState, int]
    stuck: int
    alerts: dict[AlertSeverity, int]


async def read_facts() -> StoreFacts:
    """How the store stands now. Raises StoreUnavailable when that cannot be known."""
    env = current_env("queue")
    stats = await env.queue.stats(SUBMISSIONS_QUEUE)
    age_ms = 0 if stats.oldest_ms is None else max(0, env.clock.now_ms() - stats.oldest_ms)
    return StoreFacts(
        queue=stats,
        oldest_age_s=age_ms / 1000,
        is_paused=await get_pause() is not None,
        submissions=await count_by_state(),
        stuck=await count_stuck(),
        alerts=dict(Counter(alert.severity for alert in await open_alerts())),
    )


async def count_stuck() -> int:
    """How many submissions look stuck, up to MOST_STUCK."""
    env = current_env("kv")
    if not isinstance(env.kv, DueIndex):
        return min(MOST_STUCK, len(require_readable(await get_stuck_submissions())))
    count, cursor, now_ms = 0, None, env.clock.now_ms()
    while count < MOST_STUCK:
        page = await env.kv.list_due(SUBMISSION_PREFIX, before_ms=now_ms, cursor=cursor, limit=_PAGE)
        count += len(page.entries)
        cursor = page.cursor
        if page.complete:
            break
    return min(count, MOST_STUCK)
