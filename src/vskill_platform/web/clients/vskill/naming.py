"""Which skill a name means to the original's client: `owner/repo/skill`, or the skill's name alone where that means one."""

from __future__ import annotations

from typing import NamedTuple

from vskill_platform.domain.errors import AmbiguousPackage, NotFound, SkillMoved
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.slug import MAX_SEGMENT_CHARS, SLUG_SEGMENTS, slugify
from vskill_platform.stores.skills import SkillQuery, alias_end, find_skill, search_skills
from vskill_platform.web.api.skill_lookup import require_published

MOST_ALIKE = 100
_MOST_TOLD = 20


class Asked(NamedTuple):
    """A name, and what is asked of it: nothing more, `versions`, `versions/diff` and so on."""

    name: str
    what: str


def read_address(path: str, *, known: frozenset[str]) -> Asked:
    """The parts of an address below `/skills/`. Raises NotFound for what asks nothing that is known.

    A name has one part or three, and a repository may be called like something that can be asked.
    """
    parts = path.strip("/").split("/")
    for length in (1, SLUG_SEGMENTS):
        what = "/".join(parts[length:])
        if len(parts) >= length and what in known:
            return Asked("/".join(parts[:length]), what)
    raise NotFound("There is nothing at this address.")


async def find_by_name(name: str) -> Skill:
    """The published skill of that name. Raises NotFound, SkillWithdrawn, or AmbiguousPackage with all that it could mean."""
    slug = await resolve_name(name)
    try:
        return (await require_published(slug)).skill
    except SkillMoved as moved:
        return (await require_published(str(moved.fields["slug"]))).skill


async def resolve_name(name: str) -> str:
    """The slug that a name means; the name itself where nothing is known by it. Raises AmbiguousPackage."""
    if "/" in name or await find_skill(await alias_end(name[:MAX_SEGMENT_CHARS])) is not None:
        return name
    wanted = slugify(name[:MAX_SEGMENT_CHARS])
    rows = (await search_skills(SkillQuery(search=wanted, limit=MOST_ALIKE))).rows if wanted else []
    slugs = sorted(row.slug for row in rows if row.slug.rpartition("/")[2] == wanted)
    if len(slugs) > 1:
        told = ", ".join(slugs[:_MOST_TOLD])
        raise AmbiguousPackage(f"{len(slugs)} skills are called '{wanted}'. Ask for one by its whole name: {told}.")
    return slugs[0] if slugs else name
