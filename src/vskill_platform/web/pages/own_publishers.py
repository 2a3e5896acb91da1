"""Publishers as their members meet them: claiming one, and what is done with its skills, members and collections."""

from __future__ import annotations

from typing import NamedTuple

from litestar import Response, get

from vskill_platform.accounts.ownership import require_member
from vskill_platform.domain.ids import withdrawn_key
from vskill_platform.domain.publisher import Publisher
from vskill_platform.domain.skill import Skill, SkillVersion
from vskill_platform.stores.collections import collections_of, get_collection
from vskill_platform.stores.private_paths import list_paths
from vskill_platform.stores.publisher_claims import list_challenges
from vskill_platform.stores.publishers import comes_from
from vskill_platform.stores.reads import read_prefix, require_readable
from vskill_platform.stores.skills import SkillQuery, decode_skill, find_skill, search_skills
from vskill_platform.stores.versions import get_versions
from vskill_platform.web.access import ACCESS, caller_of
from vskill_platform.web.api.collection_views import view_path
from vskill_platform.web.api.members import own_publishers, show_to
from vskill_platform.web.api.own_views import view_claim
from vskill_platform.web.api.owning import OWNED, CollectionName, Handle
from vskill_platform.web.pages.own_frame import own_page
from vskill_platform.web.pages.rendering import PageRequest

_MOST_SKILLS = 100
_OPT = {ACCESS: OWNED}


class OwnSkill(NamedTuple):
    """A skill as its publisher sees it: with all its versions, published or not."""

    slug: str
    version: str
    is_withdrawn: bool
    versions: list[SkillVersion]


@get("/account/publishers", opt=_OPT)
async def show_own_publishers(request: PageRequest) -> Response[str]:
    """The publishers of whoever is signed in, their open claims, and the way to claim one."""
    caller = caller_of(request)
    return own_page(
        request,
        "own/publishers.html",
        section="publishers",
        publishers=(await own_publishers(caller)).publishers,
        claims=[view_claim(one) for one in await list_challenges(caller.id)],
    )


@get("/account/publishers/{name:str}", opt=_OPT)
async def show_own_publisher(request: PageRequest, name: Handle) -> Response[str]:
    """One publisher, for its members: skills with their versions, collections, members."""
    caller = caller_of(request)
    publisher = await require_member(caller, name)
    return own_page(
        request,
        "own/publisher.html",
        section="publishers",
        publisher=await show_to(caller, publisher),
        skills=await _skills_of(publisher),
        collections=await collections_of(name),
    )


@get("/account/publishers/{name:str}/collections/{collection:str}", opt=_OPT)
async def show_own_collection(request: PageRequest, name: Handle, collection: CollectionName) -> Response[str]:
    """One collection, for its publisher's members: what is in it, and the private paths to it."""
    await require_member(caller_of(request), name)
    found = (await get_collection(name, collection)).collection
    paths = [view_path(one) for one in await list_paths(found)]
    return own_page(request, "own/collection.html", section="publishers", collection=found, paths=paths)


async def _skills_of(publisher: Publisher) -> list[OwnSkill]:
    """What is and was published from the publisher's places, by slug."""
    shown = (await search_skills(SkillQuery(publisher=(publisher.handle,), sort="name", limit=_MOST_SKILLS))).rows
    found = [await find_skill(row.slug) for row in shown]
    published = [one.skill for one in found if one is not None and not one.is_withdrawn]
    gone: list[Skill] = list(
        require_readable(await read_prefix(withdrawn_key(f"{publisher.handle}/"), decode_skill))[:_MOST_SKILLS]
    )
    own = [(skill, False) for skill in published] + [(skill, True) for skill in gone]
    return sorted(
        [
            OwnSkill(skill.slug, skill.version, is_withdrawn, await get_versions(skill.slug))
            for skill, is_withdrawn in own
            if comes_from(publisher, skill)
        ]
    )


OWN_PUBLISHER_PAGES = [show_own_publishers, show_own_publisher, show_own_collection]
