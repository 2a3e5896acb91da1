"""A queue for pictures of the panel: paused, with submissions in work and more of them behind the pause."""

from __future__ import annotations

import asyncio

from tests.browser.sites import Site, skill_md
from vskill_platform.cli.registry import open_registry
from vskill_platform.settings import load_settings
from vskill_platform.stores.pause import Pause
from vskill_platform.web.api.admin.queue import PauseRequest
from vskill_platform.web.api.stats import QueueStatus

IN_WORK = ("harbour/backups", "northwind/invoices", "lumen-labs/notebooks")
WAITING = (
    "paperplane/mail",
    "harbour/alerts",
    "northwind/reports",
    "lumen-labs/charts",
    "acme/onboarding",
    "acme/travel",
)
_LOOK_S = 0.2


async def stop_the_queue(site: Site) -> None:
    """Leave some submissions in work, at a git server that does not answer, and more of them behind a pause."""
    await _submit(site, IN_WORK)
    settings = load_settings(site.group.environment)
    async with open_registry(settings) as registry:
        while (await registry.get("/api/v1/queue/health", QueueStatus)).queue.leased < len(IN_WORK):  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_S)  # another process takes them up
        await registry.post("/api/v1/admin/queue/pause", Pause, PauseRequest(reason="The git host is being updated."))
    await _submit(site, WAITING)


async def _submit(site: Site, names: tuple[str, ...]) -> None:
    for name in names:
        _, url = site.make_repository(name, {"SKILL.md": skill_md(name.rpartition("/")[2])})
        await site.submit(url)
