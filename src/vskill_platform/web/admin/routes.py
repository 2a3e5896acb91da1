"""Every page of the panel, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.admin.accounts import show_accounts
from vskill_platform.web.admin.queue import show_queue

ADMIN_PAGES: list[ControllerRouterHandler] = [show_queue, show_accounts]
