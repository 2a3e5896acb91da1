"""Every page for people, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.pages.queue import show_queue_page
from vskill_platform.web.pages.start import start_page
from vskill_platform.web.pages.submission import show_submission_page, show_submission_part, try_submission_again
from vskill_platform.web.pages.submit import show_check, show_submit_page, submit_form
from vskill_platform.web.pages.trust import show_trust_page
from vskill_platform.web.static_files import show_static_file

PAGE_ROUTES: list[ControllerRouterHandler] = [
    start_page,
    show_submit_page,
    show_check,
    submit_form,
    show_submission_page,
    show_submission_part,
    try_submission_again,
    show_queue_page,
    show_trust_page,
    show_static_file,
]
