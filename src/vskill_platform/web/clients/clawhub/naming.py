"""Which skill a name of ClawHub means. There a skill is an owner's handle and a slug; here a slug has three parts.

The handle is the first part, `owner`. The slug is the last part, `skill`, as long as that means one skill; `repo.skill` and
`owner.repo.skill` name it whole and always mean the same one, since no part has a dot. What means several is refused with all of
them, so no answer is ever about another skill than the one that was meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from litestar import Request
from litestar.datastructures import State

from vskill_platform.domain.errors import AmbiguousSkillSlug, NotFound
from vskill_platform.domain.ids import ALIAS_PREFIX, withdrawn_key
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.slug import MAX_SEGMENT_CHARS, SLUG_SEGMENTS, slugify
from vskill_platform.stores.skills import FoundSkill, SkillQuery, alias_end, find_skill, search_skills
from vskill_platform.stores.submissions import get_submission_index
from vskill_platform.web.site import site_url
from vskill_platform.worker_context import current_env

ClawHubRequest = Request[Any, Any, State]
MOST_ALIKE = 100
"""How many skills that a search finds by a name are looked at, and how many of one name are told apart."""
_MOST_TOLD = 20


class Named(NamedTuple):
    """A skill, and the slug that it was asked for by, which is told again: it means this skill for certain."""

    found: FoundSkill
    asked: str

    @property
    def skill(self) -> Skill:
        """Its record."""
        return self.found.skill

    @property
    def owner(self) -> str:
        """The handle of whoever publishes it."""
        return owner_of_slug(self.skill.slug)


def owner_of_slug(slug: str) -> str:
    """The handle that stands first in a slug."""
    return slug.split("/", 1)[0]


def short_name(slug: str) -> str:
    """What a skill is called where its owner stands beside it."""
    return slug.rsplit("/", 1)[-1]


def whole_name(slug: str) -> str:
    """What a skill of an owner is called without doubt."""
    return slug.split("/", 1)[-1].replace("/", ".")


async def find_named(request: ClawHubRequest, slug: str, owner: str = "") -> Named:
    """The skill that is or was published by this name. Raises NotFound, or AmbiguousSkillSlug with all that are meant."""
    handle, parts = _clean(owner), slug.strip().lower().split(".")
    if not all(_is_segment(part) for part in [*parts, *([handle] if handle else [])]) or len(parts) > SLUG_SEGMENTS:
        raise _not_found(slug, owner)
    if len(parts) == SLUG_SEGMENTS and handle in ("", parts[0]):
        found = await find_skill(await alias_end("/".join(parts)))
    elif len(parts) == SLUG_SEGMENTS - 1 and handle:
        found = await find_skill(await alias_end("/".join([handle, *parts])))
    else:
        found = await _find_by_last_part(request, handle, parts)
    if found is None:
        raise _not_found(slug, owner)
    return Named(found, ".".join(parts))


async def _find_by_last_part(request: ClawHubRequest, handle: str, parts: Sequence[str]) -> FoundSkill | None:
    published = await search_skills(
        SkillQuery(search=parts[-1], publisher=(handle,) if handle else (), limit=MOST_ALIKE)
    )
    slugs = [row.slug for row in published.rows if _means(row.slug, parts)]
    if len(slugs) > 1:
        raise _ambiguous(request, ".".join(parts), slugs)
    if slugs:
        return await find_skill(slugs[0])
    gone = await (_gone_of_owner(handle, parts) if handle else _gone_of_anybody(parts))
    return None if gone is None else await find_skill(gone)


async def _gone_of_owner(handle: str, parts: Sequence[str]) -> str | None:
    """The slug of what this owner's skill is called now, or was when it was withdrawn."""
    kv = current_env("kv").kv
    for prefix in (ALIAS_PREFIX, withdrawn_key("")):
        page = await kv.list(f"{prefix}{handle}/")
        for slug in (key.removeprefix(prefix) for key in page.keys):
            if _means(slug, parts):
                return await alias_end(slug)
    return None


async def _gone_of_anybody(parts: Sequence[str]) -> str | None:
    rows = (await get_submission_index(search=parts[-1], limit=MOST_ALIKE)).rows
    return next((row.slug for row in rows if row.slug is not None and _means(row.slug, parts)), None)


def _means(slug: str, parts: Sequence[str]) -> bool:
    return slug.split("/")[-len(parts) :] == list(parts)


def _clean(owner: str) -> str:
    return owner.strip().lstrip("@").lower()


def _is_segment(text: str) -> bool:
    return 0 < len(text) <= MAX_SEGMENT_CHARS and slugify(text) == text


def _not_found(slug: str, owner: str) -> NotFound:
    shown = f"@{_clean(owner)[:MAX_SEGMENT_CHARS]}/{slug[:MAX_SEGMENT_CHARS]}" if owner else slug[:MAX_SEGMENT_CHARS]
    return NotFound(f"Skill not found: {shown}", slug=shown)


def _ambiguous(request: ClawHubRequest, asked: str, slugs: Sequence[str]) -> AmbiguousSkillSlug:
    """The error in the form that the client makes a list to choose from of."""
    told = sorted(slugs)[:_MOST_TOLD]
    whole = told[0].replace("/", ".")
    message = f"{len(slugs)} skills are called '{asked}'. Name one of them by its owner, or whole, such as {whole}:"
    owners = [owner_of_slug(slug) for slug in slugs]
    names = {slug: short_name(slug) if owners.count(owner_of_slug(slug)) == 1 else whole_name(slug) for slug in told}
    matches = [
        {
            "ownerHandle": owner_of_slug(slug),
            "slug": names[slug],
            "ref": f"@{owner_of_slug(slug)}/{names[slug]}",
            "url": f"{site_url(request)}/skills/{slug}",
        }
        for slug in told
    ]
    document = {"code": "AMBIGUOUS_SKILL_SLUG", "message": message, "matches": matches}
    return AmbiguousSkillSlug(message, document=document)
