"""The map of the site for search engines: an index, a part with the pages, and parts of at most 50,000 skills."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any
from urllib.parse import quote

import msgspec
from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import QueryParameter
from litestar.response import Stream

from vskill_platform.domain.catalog import SKILLS
from vskill_platform.domain.skill import PublishedSkillSummary
from vskill_platform.ports.catalog import CatalogQuery
from vskill_platform.stores.records import decode_record
from vskill_platform.web.feeds.xml_text import DECLARATION, xml_text
from vskill_platform.web.site import site_url
from vskill_platform.worker_context import current_env

XML_TYPE = "application/xml; charset=utf-8"
MOST_URLS = 50_000
PAGES = ("/", "/skills", "/publishers", "/submit", "/queue", "/trust", "/docs")
_SCHEMA = "http://www.sitemaps.org/schemas/sitemap/0.9"
_HEADERS = {"Cache-Control": "public, max-age=3600"}
_rows = msgspec.json.Decoder(PublishedSkillSummary)
After = Annotated[str, QueryParameter(max_length=400, description="The slug that the part begins after.")]


@get("/sitemap.xml", summary="Map of the site", tags=["feeds"], media_type=XML_TYPE)
async def show_sitemap(request: Request[Any, Any, State]) -> Response[str]:
    """The index of the parts."""
    site = site_url(request)
    places = [
        "/sitemap-pages.xml",
        *[f"/sitemap-skills.xml?after={quote(slug, safe='')}" for slug in await part_starts()],
    ]
    parts = "".join(f"<sitemap><loc>{xml_text(site + place)}</loc></sitemap>\n" for place in places)
    index = f'{DECLARATION}<sitemapindex xmlns="{_SCHEMA}">\n{parts}</sitemapindex>\n'
    return Response(index, media_type=XML_TYPE, headers=_HEADERS)


async def part_starts(*, most_urls: int = MOST_URLS) -> list[str]:
    """The slug that each part of the skills begins after; the first begins after nothing. No skill, no part."""
    total = (await current_env("catalog").catalog.query(CatalogQuery(SKILLS, limit=1))).total
    if total <= most_urls:
        return [""] if total else []
    starts, count, after = [""], 0, ""
    async for row in _walk(after):
        if count and count % most_urls == 0:
            starts.append(after)
        count, after = count + 1, row.slug
    return starts


@get("/sitemap-pages.xml", summary="Map of the pages", tags=["feeds"], media_type=XML_TYPE)
async def show_pages_part(request: Request[Any, Any, State]) -> Response[str]:
    """The pages that are there whatever is published."""
    site = site_url(request)
    urls = "".join(f"<url><loc>{xml_text(site + page)}</loc></url>\n" for page in PAGES)
    return Response(f"{_HEAD}{urls}{_TAIL}", media_type=XML_TYPE, headers=_HEADERS)


@get("/sitemap-skills.xml", summary="Map of a part of the skills", tags=["feeds"], media_type=XML_TYPE)
async def show_skills_part(request: Request[Any, Any, State], after: After = "") -> Stream:
    """Up to 50,000 skills in the order of their slugs, after one. The index names the parts."""
    # A stream that has begun can only be cut off, so a store that is down is found out before.
    await current_env("catalog").catalog.documents(SKILLS, after=after, limit=1)
    return Stream(_write_part(site_url(request), after), media_type=XML_TYPE, headers=_HEADERS)


_HEAD = f'{DECLARATION}<urlset xmlns="{_SCHEMA}">\n'
_TAIL = "</urlset>\n"


async def _write_part(site: str, after: str) -> AsyncIterator[str]:
    yield _HEAD
    count = 0
    async for row in _walk(after):
        count += 1
        if count > MOST_URLS:
            break
        changed = f"<lastmod>{xml_text(row.updated_at)}</lastmod>" if row.updated_at else ""
        yield f"<url><loc>{xml_text(site)}/skills/{quote(row.slug)}</loc>{changed}</url>\n"
    yield _TAIL


async def _walk(after: str) -> AsyncIterator[PublishedSkillSummary]:
    """Every published skill after a slug, in the order of the slugs' bytes."""
    catalog = current_env("catalog").catalog
    while documents := await catalog.documents(SKILLS, after=after):
        for document in documents:
            yield decode_record(document.id, document.row, decoder=_rows)
        after = documents[-1].id
