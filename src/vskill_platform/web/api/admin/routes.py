"""Every route of the admin API, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.api.admin.accounts import ACCOUNT_ROUTES
from vskill_platform.web.api.admin.queue import QUEUE_ROUTES
from vskill_platform.web.api.admin.tokens import TOKEN_ROUTES

ADMIN_ROUTES: list[ControllerRouterHandler] = [*QUEUE_ROUTES, *ACCOUNT_ROUTES, *TOKEN_ROUTES]
