"""Figures: how much there is, and how it stands."""

from __future__ import annotations

import msgspec
from litestar import Response, get

from vskill_platform.domain.catalog import SKILLS
from vskill_platform.stores.catalog import count_facet, count_submissions
from vskill_platform.stores.facts import count_stuck
from vskill_platform.stores.health import Health, QueueHealth, read_health
from vskill_platform.web.api import examples
from vskill_platform.web.api.describing import described

TAGS = ["stats"]


class SkillStats(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many skills are published, in all, by tier and by category."""

    total: int
    by_tier: dict[str, int]
    by_category: dict[str, int]


class Stats(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How much there is."""

    skills: SkillStats
    submissions: dict[str, int]


class QueueStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How the queue stands. `stuck` counts submissions that have not moved for five minutes, up to 10,000."""

    status: str
    queue: QueueHealth
    stuck: int


_STATS = Stats(
    skills=SkillStats(total=1790, by_tier={"SCANNED": 1700, "VERIFIED": 90}, by_category={"": 1790}),
    submissions=examples.CATEGORIES,
)


@get("/api/v1/stats", summary="Show figures", tags=TAGS, opt=described(_STATS, is_kept=True))
async def show_stats() -> Stats:
    """How many skills are published and how many submissions there are, counted now."""
    by_tier = await count_facet(SKILLS, "tier")
    skills = SkillStats(total=sum(by_tier.values()), by_tier=by_tier, by_category=await count_facet(SKILLS, "category"))
    return Stats(skills=skills, submissions=await count_submissions())


@get("/api/v1/stats/health", summary="Show health", tags=TAGS, opt=described(examples.HEALTH))
async def show_stats_health() -> Response[Health]:
    """How the registry stands; `degraded` where it can read and not write."""
    return Response(await read_health(), headers={"Cache-Control": "no-store"})


@get(
    "/api/v1/queue/health",
    summary="Show the queue's health",
    tags=["queue"],
    opt=described(QueueStatus(status="ok", queue=examples.QUEUE, stuck=0)),
)
async def show_queue_health() -> Response[QueueStatus]:
    """How many wait, how long the oldest has, and how many look stuck."""
    health = await read_health()
    status = QueueStatus(status=health.status, queue=health.queue, stuck=await count_stuck())
    return Response(status, headers={"Cache-Control": "no-store"})
