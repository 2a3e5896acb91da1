"""Finding the skill, and the version of it, that an address names.

An older slug leads to the present one with a 308; a skill that was withdrawn is told from one that never was.
"""

from __future__ import annotations

from vskill_platform.domain.errors import NotFound, SkillMoved, SkillQuarantined, SkillWithdrawn, VersionYanked
from vskill_platform.domain.skill import Skill, SkillVersion
from vskill_platform.domain.slug import MAX_SEGMENT_CHARS, SLUG_SEGMENTS
from vskill_platform.domain.tombstone import Departure
from vskill_platform.stores.skills import FoundSkill, alias_end, find_skill
from vskill_platform.stores.tombstones import get_tombstone
from vskill_platform.stores.versions import get_version

SKILLS = "/api/v1/skills"
SKILL = f"{SKILLS}/{{owner:str}}/{{repo:str}}/{{skill:str}}"
FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}
"""For bytes of a version, which never change. Who has them may keep them; a cache that serves others has to ask each time,
because a version may be taken back."""
FRESH = {"Cache-Control": "no-cache"}
_MAX_SLUG_CHARS = SLUG_SEGMENTS * (MAX_SEGMENT_CHARS + 1)


async def published_skill(owner: str, repo: str, skill: str) -> Skill:
    """The skill that is published under this slug. Raises SkillMoved, SkillWithdrawn or NotFound."""
    return (await require_published("/".join((owner, repo, skill)))).skill


async def require_published(slug: str) -> FoundSkill:
    """The same for a whole slug."""
    found = await find_skill(slug) if len(slug) <= _MAX_SLUG_CHARS else None
    if found is not None and not found.is_withdrawn:
        return found
    if len(slug) <= _MAX_SLUG_CHARS:
        await _raise_if_moved(slug)
    if found is None:
        raise NotFound(f"There is no skill '{slug[:_MAX_SLUG_CHARS]}'. Search for it: {SKILLS}?q=…", slug=slug)
    raise await _gone(slug)


async def _gone(slug: str) -> SkillWithdrawn:
    tombstone = await get_tombstone(slug)
    why = tombstone.reason if tombstone is not None and tombstone.reason else "No reason was kept."
    if tombstone is not None and tombstone.kind is Departure.QUARANTINED:
        return SkillQuarantined(f"'{slug}' is held back until it has been looked at: {why}", slug=slug, reason=why)
    return SkillWithdrawn(f"'{slug}' is no longer published: {why}", slug=slug, reason=why)


async def _raise_if_moved(slug: str) -> None:
    present = await alias_end(slug)
    if present == slug and slug != slug.lower() and await find_skill(slug.lower()) is not None:
        present = slug.lower()
    if present != slug:
        raise moved(slug, present)


def moved(slug: str, present: str) -> SkillMoved:
    """What leads from an older slug to the present one."""
    return SkillMoved(f"'{slug}' is called '{present}' now.", former=slug, slug=present)


async def published_version(skill: Skill, version: str) -> SkillVersion:
    """One version of a skill; the newest where none is named. Raises NotFound."""
    wanted = version or skill.version
    found = await get_version(skill.slug, wanted) if len(wanted) <= MAX_SEGMENT_CHARS else None
    if found is None:
        raise NotFound(
            f"{skill.slug} has no version '{wanted[:60]}'. {SKILLS}/{skill.slug}/versions has them all.",
            slug=skill.slug,
            version=wanted[:60],
        )
    return found


async def offered_version(skill: Skill, version: str) -> SkillVersion:
    """The same, for whoever is to get its bytes. Raises VersionYanked for one that is not handed out any more."""
    found = await published_version(skill, version)
    if found.is_yanked:
        raise VersionYanked(
            f"{found.slug} {found.version} was yanked: {found.yank_reason} Take {skill.version} instead.",
            slug=found.slug,
            version=found.version,
            reason=found.yank_reason,
            latest=skill.version,
        )
    return found
