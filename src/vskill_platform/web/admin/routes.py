"""Every page of the panel, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.admin.queue import show_queue
from vskill_platform.web.admin.rules import show_one_rule, show_rescans, show_rules

ADMIN_PAGES: list[ControllerRouterHandler] = [show_queue, show_rules, show_rescans, show_one_rule]
