"""Every route of ClawHub's API below `/clawhub`, and what leads there."""

from __future__ import annotations

from litestar import Response, Router, get
from litestar.types import ControllerRouterHandler

from vskill_platform.web.api.skill_lookup import FRESH
from vskill_platform.web.clients.clawhub.browsing import BROWSING_ROUTES
from vskill_platform.web.clients.clawhub.managing import MANAGING_ROUTES
from vskill_platform.web.clients.clawhub.naming import ClawHubRequest
from vskill_platform.web.clients.clawhub.people import PEOPLE_ROUTES
from vskill_platform.web.clients.clawhub.publishing import PUBLISHING_ROUTES
from vskill_platform.web.clients.clawhub.reading import READING_ROUTES, Document
from vskill_platform.web.clients.clawhub.reporting import REPORTING_ROUTES
from vskill_platform.web.clients.clawhub.scanning import SCANNING_ROUTES
from vskill_platform.web.clients.clawhub.security import SECURITY_ROUTES
from vskill_platform.web.clients.clawhub.unsupported import UNSUPPORTED_ROUTES
from vskill_platform.web.clients.clawhub.uploads import UPLOAD_ROUTES
from vskill_platform.web.site import site_url


@get(["/.well-known/clawhub.json", "/.well-known/clawdhub.json"])
async def show_clawhub_place(request: ClawHubRequest) -> Document:
    """Where clients of ClawHub find this registry. Signing in is at the site itself."""
    site = site_url(request)
    return Response({"apiBase": f"{site}/clawhub", "authBase": site}, headers=FRESH)


CLAWHUB_ROUTES: list[ControllerRouterHandler] = [
    show_clawhub_place,
    Router(
        "/clawhub",
        route_handlers=[
            *BROWSING_ROUTES,
            *READING_ROUTES,
            *SECURITY_ROUTES,
            *UPLOAD_ROUTES,
            *PUBLISHING_ROUTES,
            *SCANNING_ROUTES,
            *MANAGING_ROUTES,
            *PEOPLE_ROUTES,
            *REPORTING_ROUTES,
            *UNSUPPORTED_ROUTES,
        ],
    ),
]
