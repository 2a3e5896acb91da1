"""What an address of the registry offers to programs: the skills that the page there is about, and no others.

Clients take the address of any page. They fetch everything that is listed there before they choose, so every list is short:
a list that was cut says how many there are.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from litestar import Request
from litestar.datastructures import State

from vskill_platform.domain.collection import Collection, CollectionItem
from vskill_platform.domain.errors import NotFound, SkillMoved
from vskill_platform.domain.ids import ALIAS_PREFIX, skill_key
from vskill_platform.domain.skill import CertTier, SkillVersion
from vskill_platform.domain.slug import slugify
from vskill_platform.stores.collections import get_collection, no_such_collection, resolve_items
from vskill_platform.stores.private_paths import path_collection
from vskill_platform.stores.skills import FoundSkill, SkillQuery, search_skills
from vskill_platform.web.api.skill_lookup import offered_version, require_published
from vskill_platform.web.site import site_url
from vskill_platform.worker_context import current_env

MOST_AT_ROOT = 20
MOST_LISTED = 100
"""Of a publisher or a repository. A collection has an end of its own."""
CERTIFIED, NOTHING = "certified", "none"
MAX_NAME_CHARS = 64
_NAME = re.compile(rf"(?!.*--)[a-z0-9](?:[a-z0-9-]{{0,{MAX_NAME_CHARS - 2}}}[a-z0-9])?")
ClientRequest = Request[Any, Any, State]


class ListedSkill(NamedTuple):
    """A skill under the name that it has in its list, and the version that the list offers."""

    name: str
    version: SkillVersion


class Listing(NamedTuple):
    """Skills, how many there are in all, and what the list is called. What is hidden was found by a secret."""

    name: str
    title: str
    skills: list[ListedSkill]
    total: int
    is_hidden: bool = False


FindListing = Callable[[ClientRequest], Awaitable[Listing]]


async def list_root(request: ClientRequest) -> Listing:
    """What the operator has chosen for the registry itself: a collection, or the newest certified skills; or nothing."""
    chosen = current_env("settings").settings.discovery_root
    host = urlsplit(site_url(request)).hostname or ""
    if chosen == NOTHING:
        return Listing(host, "Skills", [], 0)
    if chosen != CERTIFIED:
        publisher, _, name = chosen.partition("/")
        found = await _list_collection(await _public_collection(publisher, name), most=MOST_AT_ROOT)
        return found._replace(name=host)
    certified = await search_skills(SkillQuery(tier=(CertTier.CERTIFIED,), limit=MOST_AT_ROOT))
    listed = await _offered([CollectionItem(slug=row.slug) for row in certified.rows])
    return Listing(host, "Certified skills", listed, certified.total)


async def list_publisher(request: ClientRequest) -> Listing:
    """A publisher's skills, the newest change first."""
    handle = request.path_params["name"]
    found = await search_skills(SkillQuery(publisher=(handle,), limit=MOST_LISTED))
    if not found.total:
        raise NotFound(f"There is no publisher '{handle[:100]}' with a published skill.", name=handle[:100])
    listed = await _offered([CollectionItem(slug=row.slug) for row in found.rows])
    return Listing(handle, f"Skills of {handle}", listed, found.total)


async def list_repository(request: ClientRequest) -> Listing:
    """The skills that are published from one repository, by name."""
    place = f"{request.path_params['owner']}/{request.path_params['repo']}"
    start = skill_key(f"{place[:200]}/")
    page = await current_env("kv").kv.list(start, limit=1000)
    slugs = [key.removeprefix(skill_key("")) for key in page.keys if not key.startswith(ALIAS_PREFIX)]
    if not slugs:
        raise NotFound(f"No skill is published from '{place[:200]}'.", name=place[:200])
    listed = await _offered([CollectionItem(slug=slug) for slug in slugs[:MOST_LISTED]])
    return Listing(place.replace("/", "-"), f"Skills of {place}", listed, len(slugs))


async def list_skill(request: ClientRequest) -> Listing:
    """One skill, in the version that the address names, else the newest.

    The last part may end in `@` and a name or a version, as `skills find` writes it.
    """
    named = request.path_params
    name, _, wanted = named["skill"].partition("@")
    skill = (await find_present(f"{named['owner']}/{named['repo']}/{name}")).skill
    number = str(named.get("version") or "") or ("" if wanted in ("", name, skill.name) else wanted)
    return _one(await offered_version(skill, number))


async def list_alias(request: ClientRequest) -> Listing:
    """One skill by a slug of the older form, which had one part."""
    skill = (await find_present(request.path_params["alias"])).skill
    return _one(await offered_version(skill, ""))


async def list_collection(request: ClientRequest) -> Listing:
    """A public collection, in its order."""
    return await _list_collection(
        await _public_collection(request.path_params["name"], request.path_params["collection"])
    )


async def list_private_path(request: ClientRequest) -> Listing:
    """The collection that a private path leads to."""
    found = await _list_collection(await path_collection(request.path_params["secret"]))
    return found._replace(is_hidden=True)


async def find_present(slug: str) -> FoundSkill:
    """The skill that a slug, or an older name of it, leads to. Raises NotFound, SkillWithdrawn or SkillQuarantined."""
    try:
        return await require_published(slug)
    except SkillMoved as moved:
        return await require_published(str(moved.fields["slug"]))


def name_entries(versions: Iterable[SkillVersion]) -> list[ListedSkill]:
    """Each version under the name that its SKILL.md gives it, or one that clients take; in one list no name comes twice."""
    listed: dict[str, SkillVersion] = {}
    for version in versions:
        own = entry_name(version.name, slug=version.slug)
        with_repository = "-".join(version.slug.split("/")[-2:])
        for candidate in (own, with_repository, version.slug, version.content_digest):
            name = slugify(candidate)[:MAX_NAME_CHARS].strip("-")
            if name and name not in listed:
                listed[name] = version
                break
    return [ListedSkill(name, version) for name, version in listed.items()]


def entry_name(name: str, *, slug: str) -> str:
    """The name that a skill gives itself, where clients take such a name; else the last part of its slug."""
    return name if _NAME.fullmatch(name) else slugify(slug.rpartition("/")[2])[:MAX_NAME_CHARS].strip("-")


def _one(version: SkillVersion) -> Listing:
    return Listing(version.slug.replace("/", "-"), version.slug, name_entries([version]), 1)


async def _list_collection(collection: Collection, *, most: int | None = None) -> Listing:
    listed = await _offered(collection.items[:most])
    name = f"{collection.publisher}-{collection.name}"
    return Listing(name, collection.title or collection.name, listed, len(collection.items))


async def _public_collection(publisher: str, name: str) -> Collection:
    collection = (await get_collection(publisher, name)).collection
    if not collection.is_public:
        raise no_such_collection(publisher, name)
    return collection


async def _offered(items: Sequence[CollectionItem]) -> list[ListedSkill]:
    """Those that are published and not yanked, in their order."""
    resolved = [found.version for found in await resolve_items(items)]
    return name_entries(version for version in resolved if version is not None and not version.is_yanked)


_SKILL = "/skills/{owner:str}/{repo:str}/{skill:str}"
PLACES: dict[str, FindListing] = {
    "": list_root,
    "/publishers/{name:str}": list_publisher,
    "/skills/{alias:str}": list_alias,
    "/skills/{owner:str}/{repo:str}": list_repository,
    _SKILL: list_skill,
    f"{_SKILL}/security": list_skill,
    f"{_SKILL}/files": list_skill,
    f"{_SKILL}/versions": list_skill,
    f"{_SKILL}/versions/{{version:str}}": list_skill,
    "/collections/{name:str}/{collection:str}": list_collection,
    "/p/{secret:str}": list_private_path,
}
"""Every kind of page that is about certain skills, and how they are found."""
