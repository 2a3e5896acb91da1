"""What a command speaks to that opens the registry itself: the JSON routes alone, in its own process.

Pages and what clients of other makes speak are not here, so a command does not wait for them to be loaded.
"""

from __future__ import annotations

from functools import cache

from litestar import Litestar, Router
from litestar.types import ASGIApp

from vskill_platform.ports.env import WorkerEnv
from vskill_platform.web.access import IS_CONTROL
from vskill_platform.web.api.admin.routes import ADMIN_ROUTES
from vskill_platform.web.api.parameters import refuse_unknown_parameters
from vskill_platform.web.api.routes import API_ROUTES
from vskill_platform.web.api.streams import HUB
from vskill_platform.web.application import OPEN, open_router, route_all, with_state
from vskill_platform.web.health import healthz
from vskill_platform.web.live.hub import Hub
from vskill_platform.web.surface.layer import Surface
from vskill_platform.web.surface.rate_limits import LIMITED

MAX_ADMIN_BODY_BYTES = 256 * 1024
"""Acts on many things name each of them."""
JSON_ROUTERS = (
    Router("/", route_handlers=API_ROUTES, guards=[refuse_unknown_parameters], opt=OPEN),
    Router(
        "/",
        route_handlers=ADMIN_ROUTES,
        guards=[refuse_unknown_parameters],
        request_max_body_size=MAX_ADMIN_BODY_BYTES,
    ),
)


def create_command_app(env: WorkerEnv) -> ASGIApp:
    """The application that a command asks. Whoever comes is the operator, and nobody is counted."""
    return Surface(with_state(_routed(), {LIMITED: False, IS_CONTROL: True, HUB: Hub(env)}), env)


@cache
def _routed() -> Litestar:
    return route_all([*JSON_ROUTERS, open_router(healthz)])
