"""The web application: pages, the JSON routes, feeds, and what clients of other makes speak."""

from __future__ import annotations

from functools import cache

from litestar import Litestar, Router
from litestar.types import ASGIApp

from vskill_platform.ports.env import WorkerEnv
from vskill_platform.web.access import IS_CONTROL
from vskill_platform.web.admin.routes import ADMIN_PAGES
from vskill_platform.web.api.streams import HUB
from vskill_platform.web.application import OPEN, open_router, route_all, with_state
from vskill_platform.web.clients.git_skills import SKILL_GIT, SkillGit
from vskill_platform.web.clients.routes import CLIENT_ROUTES
from vskill_platform.web.commands import JSON_ROUTERS
from vskill_platform.web.feeds.routes import FEED_ROUTES
from vskill_platform.web.health import healthz
from vskill_platform.web.live.hub import Hub
from vskill_platform.web.metrics import only_from_this_machine, show_metrics
from vskill_platform.web.pages.routes import PAGE_ROUTES
from vskill_platform.web.surface.layer import Surface
from vskill_platform.web.surface.rate_limits import LIMITED, RequestLimiter


def create_web_app(env: WorkerEnv, *, hub: Hub | None = None) -> ASGIApp:
    """The application that anybody may reach. A hub of the caller's is the caller's to stop."""
    state = {LIMITED: True, HUB: hub or Hub(env), SKILL_GIT: SkillGit()}
    return Surface(with_state(routed(), state), env, limiter=RequestLimiter(env.clock, env.settings))


def create_control_app(env: WorkerEnv, *, hub: Hub | None = None) -> ASGIApp:
    """The application behind the control socket: the same, but whoever comes is the operator, and nobody is counted."""
    state = {LIMITED: False, IS_CONTROL: True, HUB: hub or Hub(env), SKILL_GIT: SkillGit()}
    return Surface(with_state(routed(), state), env)


@cache
def routed() -> Litestar:
    """All routes, read once a process."""
    pages = open_router(*PAGE_ROUTES, *FEED_ROUTES, healthz)
    metrics = Router("/", route_handlers=[show_metrics], guards=[only_from_this_machine], opt=OPEN)
    return route_all([pages, *JSON_ROUTERS, open_router(*CLIENT_ROUTES), *ADMIN_PAGES, metrics])
