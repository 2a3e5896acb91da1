"""Every route of an application, from its own table."""

from __future__ import annotations

import re
from typing import NamedTuple, cast

from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute
from litestar.types import ASGIApp

from vskill_platform.web.access import ACCESS, Access
from vskill_platform.web.surface.layer import Surface

_PARAMETER = re.compile(r"\{([^}]*)\}")
_FILLERS = {"version": "1.0.0", "fingerprint": "0" * 12}


class Route(NamedTuple):
    """One method of one address."""

    method: str
    path: str
    handler: HTTPRouteHandler

    @property
    def access(self) -> Access | None:
        """What it asks, if it says so."""
        declared = self.handler.opt.get(ACCESS)
        return declared if isinstance(declared, Access) else None

    @property
    def address(self) -> str:
        """The path with something in the place of each parameter."""
        return _PARAMETER.sub(lambda found: _FILLERS.get(found[1].partition(":")[0], "x"), self.path)


def routes_of(app: ASGIApp) -> list[Route]:
    """All of them, but what the framework adds by itself."""
    inner = cast("Litestar", cast("Surface", app).app)
    return [
        Route(str(method), route.path_format, handler)
        for route in inner.routes
        if isinstance(route, HTTPRoute)
        for handler in route.route_handlers
        for method in sorted(handler.http_methods)
        if method != "OPTIONS"
    ]


def undeclared_of(app: ASGIApp) -> list[str]:
    """Routes that do not say to whom they are open."""
    return [f"{route.method} {route.path}" for route in routes_of(app) if route.access is None]
