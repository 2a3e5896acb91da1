"""Every route of the admin API, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.api.admin.queue import QUEUE_ROUTES
from vskill_platform.web.api.admin.rescans import RESCAN_ROUTES
from vskill_platform.web.api.admin.rules import RULE_ROUTES

ADMIN_ROUTES: list[ControllerRouterHandler] = [*QUEUE_ROUTES, *RULE_ROUTES, *RESCAN_ROUTES]
