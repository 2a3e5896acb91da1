"""Every page for people, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.pages.start import start_page
from vskill_platform.web.static_files import show_static_file

PAGE_ROUTES: list[ControllerRouterHandler] = [
    start_page,
    show_static_file,
]
