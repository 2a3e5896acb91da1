"""The pages about submissions: submitting, one submission, the queue, trust."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.pages.queue import show_queue_page
from vskill_platform.web.pages.submission import show_submission_page, show_submission_part, try_submission_again
from vskill_platform.web.pages.submit import find_skills, show_check, show_submit_page, submit_form
from vskill_platform.web.pages.trust import show_trust_page

SUBMISSION_PAGES: list[ControllerRouterHandler] = [
    show_submit_page,
    show_check,
    find_skills,
    submit_form,
    show_submission_page,
    show_submission_part,
    try_submission_again,
    show_queue_page,
    show_trust_page,
]
