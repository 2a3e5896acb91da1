"""Every route that a client of another make speaks to, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.clients.apm import APM_ROUTES
from vskill_platform.web.clients.clawhub.routes import CLAWHUB_ROUTES
from vskill_platform.web.clients.device_login import DEVICE_ROUTES
from vskill_platform.web.clients.discovery import DISCOVERY_ROUTES
from vskill_platform.web.clients.git_skills import serve_git
from vskill_platform.web.clients.marketplace import MARKETPLACE_ROUTES
from vskill_platform.web.clients.search import find_for_clients
from vskill_platform.web.clients.vskill.routes import VSKILL_ROUTES

CLIENT_ROUTES: list[ControllerRouterHandler] = [
    *CLAWHUB_ROUTES,
    *DEVICE_ROUTES,
    *APM_ROUTES,
    *DISCOVERY_ROUTES,
    *MARKETPLACE_ROUTES,
    find_for_clients,
    *VSKILL_ROUTES,
    serve_git,
]
