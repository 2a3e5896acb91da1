"""Every route of the admin API, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.api.admin.contacts import CONTACT_ROUTES
from vskill_platform.web.api.admin.publishers import PUBLISHER_ROUTES
from vskill_platform.web.api.admin.queue import QUEUE_ROUTES

ADMIN_ROUTES: list[ControllerRouterHandler] = [*QUEUE_ROUTES, *PUBLISHER_ROUTES, *CONTACT_ROUTES]
