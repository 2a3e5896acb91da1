"""Installs and downloads, and how they come into the lists.

Counting leaves a mark beside the counter. A cron job follows the marks, writes each count into its skill's record and its
row of the catalog, and removes the mark unless something was counted meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import structlog

from vskill_platform.domain.errors import Conflict, VskillError
from vskill_platform.domain.ids import skill_key
from vskill_platform.domain.skill import Skill, SkillVersion
from vskill_platform.ports.commit import Delete, Index, Operation, Put
from vskill_platform.stores.counts import counting, get_counts_of, skill_identity
from vskill_platform.stores.reads import list_keys
from vskill_platform.stores.records import encode_changed
from vskill_platform.stores.skills import find_skill, index_skill, resolve_slug
from vskill_platform.worker_context import current_env

_MARK_PREFIX = "recount:"
_log = structlog.get_logger(__name__)


async def count_installs(skills: Sequence[Skill]) -> None:
    """Count one install of each of these skills; each may come once."""
    await _count(skills, installs=1)


async def count_download(skill: Skill) -> None:
    """Count one archive that somebody fetched. Who fetches it is not kept waiting by a count that fails: it is logged."""
    try:
        await _count([skill], downloads=1)
    except VskillError as error:
        _log.warning("download_not_counted", slug=skill.slug, code=error.code, error=error.message)


async def count_update_checks(versions: Sequence[SkillVersion]) -> None:
    """Count that somebody asked whether these are still the newest. No list shows it, so it leaves no mark."""
    identities = [version.submission_id or version.slug for version in versions]
    try:
        await current_env("writes").writes.commit([*counting(identities, updateChecks=1)])
    except VskillError as error:
        _log.warning("update_checks_not_counted", code=error.code, error=error.message)


async def _count(skills: Sequence[Skill], **amounts: int) -> None:
    marks: list[Operation] = [Put(f"{_MARK_PREFIX}{skill_identity(skill)}", skill.slug.encode()) for skill in skills]
    added = counting([skill_identity(skill) for skill in skills], **amounts)
    await current_env("writes").writes.commit([*added, *marks])


async def refresh_installs() -> dict[str, int]:
    """Bring counts that have changed into the skills' records and the catalog. Gives how many, and how many must wait."""
    refreshed = waiting = 0
    async for keys in list_keys(_MARK_PREFIX):
        for key in keys:
            try:
                refreshed += await _refresh(key)
            except Conflict:
                waiting += 1
    return {"refreshed": refreshed, "waiting": waiting}


async def _refresh(mark_key: str) -> bool:
    """Write one count down. Raises Conflict where the skill or its count has changed meanwhile: the mark stays."""
    env = current_env("kv")
    mark = await env.kv.get(mark_key)
    if mark is None:
        return False
    counts = await get_counts_of(mark_key.removeprefix(_MARK_PREFIX))
    done = Delete(mark_key, if_version=mark.version)
    slug = await resolve_slug(mark.value.decode())
    found = None if slug is None else await find_skill(slug)
    if found is None or found.is_withdrawn or found.skill.installs == counts.installs:
        await env.writes.commit([done])
        return False
    skill = msgspec.structs.replace(found.skill, installs=counts.installs)
    key = skill_key(skill.slug)
    value = encode_changed(skill, key=key, previous=found.value)
    await env.writes.commit([Put(key, value, if_version=found.version), Index(index_skill(skill)), done])
    return True
