"""Marketplaces of Claude Code: below the address of a page, what that page offers as plugins, each pinned to a commit.

A plugin here is one skill and nothing else. Its source is the registry's own git, at the commit that the version's bytes come to.
"""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, get
from litestar.background_tasks import BackgroundTask
from litestar.datastructures import State
from litestar.types import ControllerRouterHandler

from vskill_platform.domain.slug import slugify
from vskill_platform.web.clients.discovery import describe, list_headers, note_listing
from vskill_platform.web.clients.git_skills import PREFIX, SKILL_GIT, SkillGit
from vskill_platform.web.clients.listing import PLACES, FindListing, ListedSkill, Listing, list_marketplace
from vskill_platform.web.clients.version_commits import folder_name
from vskill_platform.web.site import site_url

NAME_PREFIX = "vskill-"
"""What the names of marketplaces begin with: some others are kept for their maker."""
MANIFEST = "/.claude-plugin/marketplace.json"


def marketplace_name(listed: str) -> str:
    """What a client calls the marketplace: by what it lists, so that one program may have several."""
    return f"{NAME_PREFIX}{slugify(listed)}"


async def make_marketplace(listing: Listing, *, site: str, git: SkillGit) -> dict[str, object]:
    """The marketplace of a list."""
    return {
        "name": marketplace_name(listing.name),
        "owner": {"name": "vskill-platform", "url": site},
        "metadata": {"description": f"{listing.title}, verified"},
        "plugins": [await _plugin(listed, site=site, git=git) for listed in listing.skills],
    }


async def _plugin(listed: ListedSkill, *, site: str, git: SkillGit) -> dict[str, object]:
    version = listed.version
    return {
        "name": listed.name,
        "description": describe(version),
        "version": version.version,
        "homepage": f"{site}/skills/{version.slug}",
        "source": {
            "source": "url",
            "url": f"{site}{PREFIX}/{version.slug}.git",
            "sha": await git.pins.find(version),
        },
        "strict": False,
        "skills": [f"./skills/{folder_name(version)}"],
    }


def _route(place: str, find: FindListing) -> ControllerRouterHandler:
    @get(f"{place}{MANIFEST}")
    async def show_marketplace(request: Request[Any, Any, State], state: State) -> Response[dict[str, object]]:
        """What the page at this address offers, as plugins."""
        listing = await find(request)
        made = await make_marketplace(listing, site=site_url(request), git=state[SKILL_GIT])
        return Response(made, headers=list_headers(listing), background=BackgroundTask(note_listing, request, listing))

    return show_marketplace


MARKETPLACE_ROUTES = [_route(place, find) for place, find in {**PLACES, "": list_marketplace}.items()]
