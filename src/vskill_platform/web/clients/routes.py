"""Every route that a client of another make speaks to, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.clients.apm import APM_ROUTES
from vskill_platform.web.clients.clawhub.routes import CLAWHUB_ROUTES

CLIENT_ROUTES: list[ControllerRouterHandler] = [
    *CLAWHUB_ROUTES,
    *APM_ROUTES,
]
