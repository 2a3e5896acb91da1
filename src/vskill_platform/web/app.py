"""The web application: routes over the services below, each request with the env in scope."""

from __future__ import annotations

from collections.abc import Mapping

from litestar import Litestar
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.types import ASGIApp, ControllerRouterHandler, Receive, Scope, Send

from vskill_platform.ports.env import WorkerEnv
from vskill_platform.web.api.routes import API_ROUTES
from vskill_platform.web.api.streams import HUB
from vskill_platform.web.api.submissions import LIMITED
from vskill_platform.web.control import CONTROL_ROUTES
from vskill_platform.web.headers import with_security_headers
from vskill_platform.web.health import healthz
from vskill_platform.web.live.hub import Hub
from vskill_platform.web.metrics import show_metrics
from vskill_platform.web.pages.routes import PAGE_ROUTES
from vskill_platform.web.problems import answer_error
from vskill_platform.web.request_metrics import with_request_metrics
from vskill_platform.worker_context import request_env_storage

_PUBLIC_ROUTES: list[ControllerRouterHandler] = [*PAGE_ROUTES, *API_ROUTES, healthz]


def create_web_app(env: WorkerEnv, *, hub: Hub | None = None) -> ASGIApp:
    """The application that anybody may reach. A hub of the caller's is the caller's to stop."""
    state = {LIMITED: True, HUB: hub or Hub(env)}
    return with_request_metrics(create_app(env, _PUBLIC_ROUTES, state=state))


def create_control_app(env: WorkerEnv, *, hub: Hub | None = None) -> ASGIApp:
    """The application behind the control socket: the same, the operator's routes, and no limit on submissions."""
    state = {LIMITED: False, HUB: hub or Hub(env)}
    return create_app(env, [*_PUBLIC_ROUTES, show_metrics, *CONTROL_ROUTES], state=state)


def create_app(env: WorkerEnv, routes: list[ControllerRouterHandler], *, state: Mapping[str, object]) -> ASGIApp:
    """An application of these routes, with our headers, our problem documents, and the env in scope."""
    app = Litestar(
        route_handlers=routes,
        state=State(dict(state)),
        exception_handlers={Exception: answer_error, HTTPException: answer_error},
        openapi_config=None,
        logging_config=None,
        debug=False,
    )
    return with_security_headers(_with_request_env(app, env))


def _with_request_env(app: ASGIApp, env: WorkerEnv) -> ASGIApp:
    """The application, with this env in scope for the whole of each request."""

    async def scoped(scope: Scope, receive: Receive, send: Send) -> None:
        await request_env_storage.run(env, lambda: app(scope, receive, send))

    return scoped
