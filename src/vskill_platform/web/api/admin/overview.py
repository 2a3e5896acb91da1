"""How the registry stands, for those who run it."""

from __future__ import annotations

from litestar import get

from vskill_platform.domain.access import Permission
from vskill_platform.domain.standing import Judgement, Reason, Standing
from vskill_platform.stores.drift import Comparison, Drift
from vskill_platform.stores.flow import Flow
from vskill_platform.stores.overview import JobRun, Overview, StuckFigures, read_overview
from vskill_platform.web.access import needs
from vskill_platform.web.api import examples
from vskill_platform.web.api.describing import described

_THEN, _NOW = "2026-11-16T09:00:00.000Z", "2026-11-16T09:00:00.412Z"
_OVERVIEW = Overview(
    at=_NOW,
    version="0.1.0",
    judgement=Judgement(
        standing=Standing.DEGRADED,
        reasons=[
            Reason(
                standing=Standing.DEGRADED,
                code="dead_letters",
                sentence="2 messages could not be delivered and were given up.",
                advice="Read their errors, mend the cause, then send them back or drop them with a reason.",
            )
        ],
    ),
    health=examples.HEALTH,
    stuck=StuckFigures(total=3, lost=0, dead=2),
    flow=Flow(counted_at=_THEN, taken_up=41, scans=118, limited_scans=0, failures={"no_skill_found": 3}),
    jobs=[
        JobRun(
            job="sweep",
            started_at=_THEN,
            finished_at=_NOW,
            took_ms=412,
            error=None,
            result={"examined": 3},
            due_at=_NOW,
        ),
    ],
    drift=Drift(last=Comparison(began_at=_THEN, ended_at=_NOW, examined=1949)),
)


@get(
    "/api/v1/admin/overview",
    summary="Show how the registry stands",
    tags=["admin"],
    opt=described(_OVERVIEW, access=needs(Permission.SEE_PANEL)),
)
async def show_overview() -> Overview:
    """HEALTHY, DEGRADED or UNHEALTHY with every reason, the figures behind it, and how the cron's jobs ran."""
    return await read_overview()
