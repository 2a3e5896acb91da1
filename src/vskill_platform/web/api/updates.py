"""Whether what a client has installed is still what is published."""

from __future__ import annotations

from litestar import Response, post
from litestar.params import JSONBody

from vskill_platform.domain.capabilities import CapabilityChanges, compare
from vskill_platform.domain.skill import Skill, SkillVersion
from vskill_platform.stores.fan_out import settle_each
from vskill_platform.stores.skills import alias_end, find_skill
from vskill_platform.stores.tombstones import get_tombstone
from vskill_platform.stores.versions import get_version, get_versions
from vskill_platform.web.api.skill_lookup import SKILLS
from vskill_platform.web.api.skill_views import InstalledSkill, UpdateCheck, UpdateList, UpdateStatus, UpdateView

_MAX_BODY_BYTES = 256 * 1024
_IN_FLIGHT = 32


@post(
    f"{SKILLS}/check-updates",
    summary="Which installed skills have a newer version",
    tags=["skills"],
    status_code=200,
    request_max_body_size=_MAX_BODY_BYTES,
)
async def check_updates(data: JSONBody[UpdateCheck]) -> Response[UpdateList]:
    """How each stands: current, outdated (with what the newest can do that yours cannot), yanked or withdrawn (why), unknown."""
    views = []
    for outcome in await settle_each(data.skills, _check, in_flight=_IN_FLIGHT):
        if isinstance(outcome, Exception):
            raise outcome
        views.append(outcome)
    return Response(UpdateList(skills=views), headers={"Cache-Control": "no-store"})


async def _check(installed: InstalledSkill) -> UpdateView:
    slug = await alias_end(installed.slug)
    found = await find_skill(slug)
    if found is None:
        return UpdateView(slug=installed.slug, status=UpdateStatus.UNKNOWN)
    if found.is_withdrawn:
        tombstone = await get_tombstone(slug)
        reason = None if tombstone is None else tombstone.reason
        return UpdateView(slug=installed.slug, status=UpdateStatus.WITHDRAWN, current_slug=slug, reason=reason)
    yanked = await _yanked(installed, found.skill)
    if yanked is not None:
        return UpdateView(
            slug=installed.slug,
            status=UpdateStatus.YANKED,
            current_slug=slug,
            version=found.skill.version,
            content_digest=found.skill.content_digest,
            capability_changes=await _changes(installed, found.skill),
            reason=yanked.yank_reason,
        )
    is_current = _is_current(installed, found.skill)
    return UpdateView(
        slug=installed.slug,
        status=UpdateStatus.CURRENT if is_current else UpdateStatus.OUTDATED,
        current_slug=slug,
        version=found.skill.version,
        content_digest=found.skill.content_digest,
        capability_changes=None if is_current else await _changes(installed, found.skill),
    )


async def _yanked(installed: InstalledSkill, skill: Skill) -> SkillVersion | None:
    """The version that the client has, if it was yanked; by its bytes where the client knows them."""
    if not skill.yanked_versions or installed.content_digest == skill.content_digest:
        return None
    for version in await get_versions(skill.slug):
        has_it = version.content_digest == installed.content_digest or version.version == installed.version
        if version.is_yanked and has_it:
            return version
    return None


def _is_current(installed: InstalledSkill, skill: Skill) -> bool:
    """Whether the client has the newest: by its bytes where it knows them, else by the version it names."""
    if installed.content_digest:
        return installed.content_digest == skill.content_digest
    return installed.version == skill.version


async def _changes(installed: InstalledSkill, skill: Skill) -> CapabilityChanges | None:
    """What the newest version can do and the installed one cannot; None where we do not know the installed one."""
    before = await get_version(skill.slug, installed.version) if installed.version else None
    after = await get_version(skill.slug, skill.version)
    if before is None or after is None:
        return None
    has_same_rules = before.ruleset_version == after.ruleset_version
    return compare(before.capabilities, after.capabilities, since=before.version, has_same_rules=has_same_rules)
