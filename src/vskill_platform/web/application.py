"""What every application of ours is made of: the JSON routes, the layer around, problem documents, and the env in scope."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy

from litestar import Litestar, Router
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.types import ASGIApp, ControllerRouterHandler

from vskill_platform.ports.env import WorkerEnv
from vskill_platform.web.access import ACCESS, ANYONE, check_access
from vskill_platform.web.errors import answer_error
from vskill_platform.web.surface.layer import Surface
from vskill_platform.web.surface.rate_limits import RequestLimiter

MAX_BODY_BYTES = 16 * 1024
"""What a request may carry unless its route says otherwise."""
OPEN: dict[str, object] = {ACCESS: ANYONE}


def create_app(
    env: WorkerEnv,
    routes: list[ControllerRouterHandler],
    *,
    state: Mapping[str, object],
    limiter: RequestLimiter | None = None,
) -> ASGIApp:
    """An application of these routes, with the layer around it, our problem documents, and the env in scope."""
    return Surface(with_state(route_all(routes), state), env, limiter=limiter)


def route_all(routes: list[ControllerRouterHandler]) -> Litestar:
    """These routes, with what every application of ours has around them."""
    return Litestar(
        route_handlers=routes,
        guards=[check_access],
        exception_handlers={Exception: answer_error, HTTPException: answer_error},
        request_max_body_size=MAX_BODY_BYTES,
        openapi_config=None,
        logging_config=None,
        debug=False,
    )


def with_state(routed: Litestar, state: Mapping[str, object]) -> Litestar:
    """The same routes with a state of their own: reading hundreds of routes takes half a second, and is done once a process."""
    app = copy(routed)
    app.state = State(dict(state))
    return app


def open_router(*routes: ControllerRouterHandler) -> Router:
    """Routes that anybody may ask."""
    return Router("/", route_handlers=routes, opt=OPEN)
