"""Every route that a client of another make speaks to, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

CLIENT_ROUTES: list[ControllerRouterHandler] = []
