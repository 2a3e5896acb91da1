"""The web application: routes over the stores, with the env handed to each request."""

from __future__ import annotations

from litestar import Litestar
from litestar.di import Provide

from vskill_platform.ports.env import WorkerEnv
from vskill_platform.web.health import healthz


def create_web_app(env: WorkerEnv) -> Litestar:
    """The application for one env."""

    def provide_env() -> WorkerEnv:
        return env

    return Litestar(
        route_handlers=[healthz],
        dependencies={"env": Provide(provide_env, sync_to_thread=False)},
        openapi_config=None,
        logging_config=None,
        debug=False,
    )
