"""Whether the source of a skill still has the bytes that were verified, and what is done where it has not.

Another newest commit alone says little: most commits of a repository touch other things. So the skill's folder at that commit is
read and its digest compared. A commit is compared once for each skill, and leads to at most one submission.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import structlog

from vskill_platform.domain.content import content_digest
from vskill_platform.domain.errors import NotFound, SourceRefused, SourceUnreachable, UnreadableSkill, VskillError
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.source_change import SourceChange, SourceChangeKind, is_compared
from vskill_platform.domain.submission import Actor
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.pipeline.intake import Submitter, submit_again
from vskill_platform.ports.commit import Operation
from vskill_platform.ports.source import Snapshot
from vskill_platform.stores.repo_health import find_source_changes, putting_source_change, telling_source_change
from vskill_platform.worker_context import current_env

SYSTEM = Submitter(actor=Actor.SYSTEM)
_log = structlog.get_logger(__name__)


async def compare_with_source(skills: Sequence[Skill], *, head: str) -> int:
    """Compare skills of one repository with its head, where that has not been done. Says how many differ anew.

    A source that cannot be fetched now is compared after the next look.
    """
    env = current_env("source")
    if env.settings.source_changes == "off":
        return 0
    known = await find_source_changes(skill.slug for skill in skills)
    wanted = [skill for skill in skills if not is_compared(skill, head, known.get(skill.slug))]
    if not wanted:
        return 0
    try:
        async with env.source.fetch(wanted[0].repo_url) as snapshot:
            found = [await _compare(skill, snapshot) for skill in wanted]
    except (SourceRefused, SourceUnreachable) as error:
        _log.info("source_not_compared", repo_url=wanted[0].repo_url, code=error.code)
        return 0
    changed = [await _act_upon(change, skill) for change, skill in zip(found, wanted, strict=True)]
    operations: list[Operation] = []
    for change in changed:
        operations.append(putting_source_change(change))
        if change.kind is not SourceChangeKind.SAME:
            operations.append(telling_source_change(change))
            _log.info("source_changed", slug=change.slug, kind=change.kind, commit=change.head)
    await env.writes.commit(operations)
    return sum(change.kind is not SourceChangeKind.SAME for change in changed)


async def _compare(skill: Skill, snapshot: Snapshot) -> SourceChange:
    kind, digest = SourceChangeKind.UNREADABLE, ""
    try:
        digest = content_digest(await snapshot.read_skill(skill.skill_path))
        kind = SourceChangeKind.SAME if digest == skill.content_digest else SourceChangeKind.CHANGED
    except NotFound:
        kind = SourceChangeKind.REMOVED
    except UnreadableSkill as error:
        _log.info("source_unreadable", slug=skill.slug, code=error.code)
    return SourceChange(
        slug=skill.slug,
        kind=kind,
        head=snapshot.commit,
        digest=digest,
        published_digest=skill.content_digest,
        seen_at=iso_from_ms(current_env("clock").clock.now_ms()),
    )


async def _act_upon(change: SourceChange, skill: Skill) -> SourceChange:
    """Submit again what has changed, where the settings say so. Should this die before it is written down, intake knows."""
    if current_env("settings").settings.source_changes != "submit" or change.kind is not SourceChangeKind.CHANGED:
        return change
    try:
        intake = await submit_again(skill.submission_id, submitter=SYSTEM)
    except VskillError as error:
        _log.warning("changed_source_not_submitted", slug=skill.slug, code=error.code, error=error.message)
        return change
    return msgspec.structs.replace(change, submission_id=intake.submission.id)
