"""Every feed and machine-readable file, in one list."""

from __future__ import annotations

from litestar.types import ControllerRouterHandler

from vskill_platform.web.feeds.feeds import feed_blocked, feed_new, feed_updated
from vskill_platform.web.feeds.sitemap import show_pages_part, show_sitemap, show_skills_part
from vskill_platform.web.feeds.texts import show_llms_txt, show_robots, show_security_txt

FEED_ROUTES: list[ControllerRouterHandler] = [
    feed_new,
    feed_updated,
    feed_blocked,
    show_sitemap,
    show_pages_part,
    show_skills_part,
    show_robots,
    show_security_txt,
    show_llms_txt,
]
