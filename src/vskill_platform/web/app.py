"""The web application: routes over the services below, each request with the env in scope."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import cache

from litestar import Litestar, Router
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.types import ASGIApp, ControllerRouterHandler

from vskill_platform.ports.env import WorkerEnv
from vskill_platform.web.access import ACCESS, ANYONE, IS_CONTROL, check_access
from vskill_platform.web.admin.routes import ADMIN_PAGES
from vskill_platform.web.api.admin.routes import ADMIN_ROUTES
from vskill_platform.web.api.parameters import refuse_unknown_parameters
from vskill_platform.web.api.routes import API_ROUTES
from vskill_platform.web.api.streams import HUB
from vskill_platform.web.clients.git_skills import SKILL_GIT, SkillGit
from vskill_platform.web.clients.routes import CLIENT_ROUTES
from vskill_platform.web.errors import answer_error
from vskill_platform.web.feeds.routes import FEED_ROUTES
from vskill_platform.web.health import healthz
from vskill_platform.web.live.hub import Hub
from vskill_platform.web.metrics import only_from_this_machine, show_metrics
from vskill_platform.web.pages.routes import PAGE_ROUTES
from vskill_platform.web.surface.layer import Surface
from vskill_platform.web.surface.rate_limits import LIMITED, RequestLimiter

MAX_BODY_BYTES = 16 * 1024
"""What a request may carry unless its route says otherwise."""
MAX_ADMIN_BODY_BYTES = 256 * 1024
"""Acts on many things name each of them."""
_OPEN = {ACCESS: ANYONE}
_API = Router("/", route_handlers=API_ROUTES, guards=[refuse_unknown_parameters], opt=_OPEN)
_ADMIN_API = Router(
    "/",
    route_handlers=ADMIN_ROUTES,
    guards=[refuse_unknown_parameters],
    request_max_body_size=MAX_ADMIN_BODY_BYTES,
)
_PAGES = Router("/", route_handlers=[*PAGE_ROUTES, *FEED_ROUTES, healthz], opt=_OPEN)
_CLIENTS = Router("/", route_handlers=CLIENT_ROUTES, opt=_OPEN)
_PUBLIC_ROUTES: list[ControllerRouterHandler] = [_PAGES, _API, _CLIENTS, *ADMIN_PAGES, _ADMIN_API]
_LOCAL_METRICS = Router("/", route_handlers=[show_metrics], guards=[only_from_this_machine], opt=_OPEN)
_OPERATORS_METRICS = Router("/", route_handlers=[show_metrics], opt=_OPEN)


def create_web_app(env: WorkerEnv, *, hub: Hub | None = None) -> ASGIApp:
    """The application that anybody may reach. A hub of the caller's is the caller's to stop."""
    limiter = RequestLimiter(env.clock, env.settings)
    app = _with_state(_public_app(), {LIMITED: True, HUB: hub or Hub(env), SKILL_GIT: SkillGit()})
    return Surface(app, env, limiter=limiter)


def create_control_app(env: WorkerEnv, *, hub: Hub | None = None) -> ASGIApp:
    """The application behind the control socket: the same, but whoever comes is the operator, and nobody is counted."""
    app = _with_state(_operators_app(), {LIMITED: False, IS_CONTROL: True, HUB: hub or Hub(env), SKILL_GIT: SkillGit()})
    return Surface(app, env)


def create_app(
    env: WorkerEnv,
    routes: list[ControllerRouterHandler],
    *,
    state: Mapping[str, object],
    limiter: RequestLimiter | None = None,
) -> ASGIApp:
    """An application of these routes, with the layer around it, our problem documents, and the env in scope."""
    return Surface(_with_state(_route(routes), state), env, limiter=limiter)


@cache
def _public_app() -> Litestar:
    return _route([*_PUBLIC_ROUTES, _LOCAL_METRICS])


@cache
def _operators_app() -> Litestar:
    return _route([*_PUBLIC_ROUTES, _OPERATORS_METRICS])


def _route(routes: list[ControllerRouterHandler]) -> Litestar:
    return Litestar(
        route_handlers=routes,
        guards=[check_access],
        exception_handlers={Exception: answer_error, HTTPException: answer_error},
        request_max_body_size=MAX_BODY_BYTES,
        openapi_config=None,
        logging_config=None,
        debug=False,
    )


def _with_state(routed: Litestar, state: Mapping[str, object]) -> Litestar:
    """The same routes with a state of their own: reading hundreds of routes takes half a second, and is done once a process."""
    app = copy(routed)
    app.state = State(dict(state))
    return app
