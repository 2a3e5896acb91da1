"""Pages from templates: escaped by default, with nothing left undefined, and with a policy that runs our scripts alone.

Templates get what a handler hands them and the few names below. None of them reads the store, the clock or the settings.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import jinja2
from litestar import MediaType, Request, Response
from litestar.datastructures import State
from litestar.status_codes import HTTP_200_OK
from markupsafe import Markup

from vskill_platform import __version__
from vskill_platform.domain.skill import PublishedSkillSummary
from vskill_platform.web.feeds.feeds import FEEDS as ATOM_FEEDS
from vskill_platform.web.pages import wording
from vskill_platform.web.site import site_url as site_url
from vskill_platform.web.static_files import static_url

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SITE_NAME = "vskill"


class Place(NamedTuple):
    """A part of the site that every page leads to. `name` is what a template sets as its `section`."""

    name: str
    title: str
    href: str


class Feed(NamedTuple):
    """A feed that readers find by themselves."""

    title: str
    href: str


PLACES = (
    Place("skills", "Skills", "/skills"),
    Place("publishers", "Publishers", "/publishers"),
    Place("queue", "Queue", "/queue"),
    Place("trust", "Trust", "/trust"),
    Place("docs", "Docs", "/docs"),
)
FEEDS = tuple(Feed(feed.title, feed.path) for feed in ATOM_FEEDS)
PageRequest = Request[object, object, State]
_TEMPLATES = Path(__file__).parent.parent / "templates"
_ASK_AGAIN = "no-cache"
"""Pages may be kept and are asked for again each time; whoever has the newest gets 304."""


@cache
def templates() -> jinja2.Environment:
    """The templates, each read and compiled once."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals.update(
        static=static_url,
        site_name=SITE_NAME,
        platform_version=__version__,
        places=PLACES,
        feeds=FEEDS,
        capability_words=wording.CAPABILITY_WORDS,
        skill_row=skill_row,
    )
    environment.filters.update(wording.FILTERS)
    return environment


@lru_cache(maxsize=4096)
def skill_row(row: PublishedSkillSummary) -> Markup:
    """A skill as lists show it. Most lists show the same skills again and again, and a row is the dear part of a page."""
    macro = templates().get_template("parts/skills.html").module.skill_row  # type: ignore[attr-defined]
    return Markup(macro(row))  # noqa: S704 - escaped by the template


def render(template: str, **context: object) -> str:
    """The text that a template makes of a context. Raises UndefinedError where it asks for what is not there."""
    return templates().get_template(template).render(**context)


def page(
    request: PageRequest,
    template: str,
    *,
    status_code: int = HTTP_200_OK,
    headers: dict[str, str] | None = None,
    **context: object,
) -> Response[str]:
    """A page for people, with the headers that every page has. The template also gets `site` and `path` of the request."""
    text = render(template, site=site_url(request), path=request.scope["path"], **context)
    return Response(
        text,
        status_code=status_code,
        media_type=MediaType.HTML,
        headers={"Content-Security-Policy": CONTENT_POLICY, "Cache-Control": _ASK_AGAIN, **(headers or {})},
    )
