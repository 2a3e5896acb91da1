"""The feeds: skills that came new, versions that came new, and what was blocked."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from litestar import Request, Response, get
from litestar.datastructures import State

from vskill_platform.domain.blocklist import Block, block_key
from vskill_platform.domain.skill import PublishedSkillSummary
from vskill_platform.stores.blocklist import list_blocks
from vskill_platform.stores.reads import require_complete
from vskill_platform.stores.skills import SkillQuery, search_skills
from vskill_platform.web.feeds.atom import ATOM_TYPE, Entry, Feed, write_feed
from vskill_platform.web.site import site_url

ENTRIES = 50
NEW = Feed("/feeds/new.atom", "New skills", "Skills that were published for the first time.")
UPDATED = Feed("/feeds/updated.atom", "Updated skills", "Skills that have a new version or were looked at again.")
BLOCKED = Feed("/feeds/blocked.atom", "Blocked", "What may not be published here, and why.")
FEEDS = (NEW, UPDATED, BLOCKED)
"""Every feed, for the links by which pages tell of them."""
_HEADERS = {"Cache-Control": "public, max-age=60"}


@get(NEW.path, summary="Feed of new skills", tags=["feeds"], media_type=ATOM_TYPE)
async def feed_new(request: Request[Any, Any, State]) -> Response[str]:
    """Atom: the skills that were published last."""
    found = await search_skills(SkillQuery(sort="published", limit=ENTRIES))
    entries = [_skill_entry(row, key=f"skill {row.slug}", updated=row.published_at) for row in found.rows]
    return _answer(request, NEW, entries)


@get(UPDATED.path, summary="Feed of updated skills", tags=["feeds"], media_type=ATOM_TYPE)
async def feed_updated(request: Request[Any, Any, State]) -> Response[str]:
    """Atom: the skills that changed last, an entry for each version."""
    found = await search_skills(SkillQuery(sort="updated", limit=ENTRIES))
    entries = [_skill_entry(row, key=f"version {row.slug} {row.version}", updated=row.updated_at) for row in found.rows]
    return _answer(request, UPDATED, entries)


@get(BLOCKED.path, summary="Feed of what was blocked", tags=["feeds"], media_type=ATOM_TYPE)
async def feed_blocked(request: Request[Any, Any, State]) -> Response[str]:
    """Atom: the newest entries of the blocklist."""
    blocks = require_complete(await list_blocks())
    newest = sorted(blocks, key=lambda block: (block.created_at, block_key(block)), reverse=True)[:ENTRIES]
    return _answer(request, BLOCKED, [_block_entry(block) for block in newest])


def _answer(request: Request[Any, Any, State], feed: Feed, entries: list[Entry]) -> Response[str]:
    return Response(write_feed(feed, entries, site=site_url(request)), media_type=ATOM_TYPE, headers=_HEADERS)


def _skill_entry(row: PublishedSkillSummary, *, key: str, updated: str) -> Entry:
    return Entry(
        key=key,
        title=f"{row.name} {row.version}".rstrip(),
        link=f"/skills/{quote(row.slug)}",
        updated=updated or row.updated_at,
        published=row.published_at,
        author=row.publisher or row.slug.split("/", 1)[0],
        summary=row.description,
        category=row.category,
    )


def _block_entry(block: Block) -> Entry:
    what = block.skill_name or block.repo_url or block.digest
    return Entry(
        key=f"block {block_key(block)} {block.created_at}",
        title=f"Blocked: {what}",
        link="/trust",
        updated=block.created_at,
        author=block.actor.value,
        summary=block.reason,
        category=block.kind.value,
    )
