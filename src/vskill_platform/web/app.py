"""The web application: routes over the stores, each request with the env in scope."""

from __future__ import annotations

from litestar import Litestar
from litestar.types import ASGIApp, Receive, Scope, Send

from vskill_platform.ports.env import WorkerEnv
from vskill_platform.web.health import healthz
from vskill_platform.worker_context import request_env_storage


def create_web_app(env: WorkerEnv) -> ASGIApp:
    """The application for one env."""
    routes = Litestar(route_handlers=[healthz], openapi_config=None, logging_config=None, debug=False)
    return _with_request_env(routes, env)


def _with_request_env(app: ASGIApp, env: WorkerEnv) -> ASGIApp:
    """The application, with this env in scope for the whole of each request."""

    async def scoped(scope: Scope, receive: Receive, send: Send) -> None:
        await request_env_storage.run(env, lambda: app(scope, receive, send))

    return scoped
