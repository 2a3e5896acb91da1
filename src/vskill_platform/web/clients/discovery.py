"""Agent-skills discovery 0.2.0 and 0.1.0: below the address of a page, the index of what that page offers.

`{page}/.well-known/agent-skills/index.json` and its older twin `{page}/.well-known/skills/index.json` are the same document. It
has what 0.2.0 asks for, an archive with its digest, and what 0.1.0 asks for, the names of the files: a client that knows
digests never comes to bytes that it cannot check, whichever of the two it reads.

The archives are below the page too. Some clients note no more than where an archive came from, and take for the page what stands
before `/.well-known/`.
"""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, get
from litestar.background_tasks import BackgroundTask
from litestar.datastructures import State
from litestar.response import Stream
from litestar.types import ControllerRouterHandler

from vskill_platform import metrics
from vskill_platform.domain.errors import NotFound
from vskill_platform.domain.skill import SkillVersion
from vskill_platform.stores.installs import count_update_checks
from vskill_platform.web.api.archives import is_update_check, send_archive, send_file
from vskill_platform.web.api.skill_lookup import FRESH, SKILLS
from vskill_platform.web.clients.listing import PLACES, ClientRequest, FindListing, ListedSkill, Listing, find_present
from vskill_platform.web.surface.layer import is_head
from vskill_platform.web.surface.rate_limits import household
from vskill_platform.worker_context import current_env

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
"""Clients compare it letter by letter."""
WELL_KNOWN = ("/.well-known/agent-skills", "/.well-known/skills")
ARCHIVES = "/agent-skills/-"
"""Where archives are, below `.well-known`. No skill has this name."""
MAX_DESCRIPTION_CHARS = 1024
HIDDEN = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex"}
_COUNTED_ONCE_S = 3600.0


def make_index(listing: Listing) -> dict[str, object]:
    """The index of a list. Clients let fields pass that they do not know."""
    return {
        "$schema": SCHEMA,
        "skills": [_entry(listed) for listed in listing.skills],
        "total": listing.total,
    }


def _entry(listed: ListedSkill) -> dict[str, object]:
    version = listed.version
    home = f"{SKILLS}/{version.slug}/versions/{version.version}"
    return {
        "name": listed.name,
        "type": "archive",
        "description": describe(version),
        "url": f"..{ARCHIVES}/{listed.name}/{version.version}/archive.zip",
        "digest": version.zip_digest,
        "files": [file.path for file in version.files],
        "version": version.version,
        "slug": version.slug,
        "tier": version.tier.value,
        "verdict": version.verdict.value,
        "score": version.score,
        "contentDigest": version.content_digest,
        "zipUrl": f"{home}/archive.zip",
        "tarUrl": f"{home}/archive.tar",
        "tarDigest": version.tar_digest,
    }


def describe(version: SkillVersion) -> str:
    """What a version says of itself, in as many characters as clients take, and at least its name."""
    text = version.description.strip() or version.name
    return text if len(text) <= MAX_DESCRIPTION_CHARS else f"{text[: MAX_DESCRIPTION_CHARS - 1]}…"


def list_headers(listing: Listing) -> dict[str, str]:
    """Headers of a list: anybody asks again each time, and nobody keeps what was found by a secret."""
    return HIDDEN if listing.is_hidden else FRESH


async def note_listing(request: ClientRequest, listing: Listing) -> None:
    """Count that a client asked: apart where it only looks for something newer, and then once an hour for an address."""
    if is_head(request.scope):
        return
    if not is_update_check(request):
        metrics.CLIENT_LISTS.labels("install").inc()
        return
    metrics.CLIENT_LISTS.labels("update_check").inc()
    address = household(request.client.host if request.client else "")
    key = f"update-check:{listing.name}:{address}"
    if listing.skills and (await current_env("limiter").limiter.take(key, limit=1, window_s=_COUNTED_ONCE_S)).allowed:
        await count_update_checks([listed.version for listed in listing.skills])


def _routes(place: str, find: FindListing) -> list[ControllerRouterHandler]:
    """The index of one kind of page, and the files that it names."""

    @get([f"{place}{known}/index.json" for known in WELL_KNOWN])
    async def show_index(request: Request[Any, Any, State]) -> Response[dict[str, object]]:
        """What the page at this address offers."""
        listing = await find(request)
        noting = BackgroundTask(note_listing, request, listing)
        return Response(make_index(listing), headers=list_headers(listing), background=noting)

    @get([f"{place}{known}/{{entry:str}}/{{path:path}}" for known in WELL_KNOWN])
    async def show_file(request: Request[Any, Any, State]) -> Response[bytes]:
        """One file of a skill of the index."""
        path = str(request.path_params["path"]).removeprefix("/")
        version = _named(await find(request), str(request.path_params["entry"]))
        return await send_file(version, path, media_type="text/markdown" if path == "SKILL.md" else "")

    @get(f"{place}/.well-known{ARCHIVES}/{{entry:str}}/{{number:str}}/archive.zip")
    async def show_archive(request: Request[Any, Any, State]) -> Stream:
        """A version of a skill of the index, as an archive."""
        version = _named(await find(request), str(request.path_params["entry"]))
        skill = (await find_present(version.slug)).skill
        return await send_archive(request, skill, str(request.path_params["number"]), kind="zip")

    return [show_index, show_file, show_archive]


def _named(listing: Listing, name: str) -> SkillVersion:
    for listed in listing.skills:
        if listed.name == name:
            return listed.version
    raise NotFound(f"The index here has no skill '{name[:100]}'.", name=name[:100])


DISCOVERY_ROUTES = [route for place, find in PLACES.items() for route in _routes(place, find)]
