"""Verifying installed skills: their folders against the lock file, and the lock file against the registry's word."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from vskill_platform.client.agents import Scope
from vskill_platform.client.lock_file import LockedSkill
from vskill_platform.client.skills import Skills, Wish, told_blocks
from vskill_platform.client.standing import Standing, StandingStatus, look_at
from vskill_platform.client.verifying import Difference, FolderCheck, check_folder
from vskill_platform.domain.comparison import FileChangeKind
from vskill_platform.domain.errors import NotFound, UnreadableSkill
from vskill_platform.domain.skill import VersionFile
from vskill_platform.ingest.limits import SkillLimits

LOCK_ALONE = "the lock file"


class Verification(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One skill: each of its folders, and what else is wrong. `against` says what it was compared with."""

    slug: str
    version: str
    content_digest: str
    against: str
    is_same: bool
    is_taken_back: bool = False
    status: str = ""
    folders: tuple[FolderCheck, ...] = ()
    problems: tuple[str, ...] = ()


def verify_offline(skill: LockedSkill, folders: Sequence[Path], *, scope: Scope, limits: SkillLimits) -> Verification:
    """The folders of a skill against the lock file alone."""
    checks = tuple(_check(folder, skill.files, limits=limits, shown=scope.shown(folder)) for folder in folders)
    return Verification(
        slug=skill.slug,
        version=skill.version,
        content_digest=skill.content_digest,
        against=LOCK_ALONE,
        is_same=not any(check.differences for check in checks),
        folders=checks,
    )


async def verify_installed(
    skills: Skills, listed: Sequence[tuple[LockedSkill, list[Path]]], *, scope: Scope, limits: SkillLimits
) -> list[Verification]:
    """Each skill's folders against the lock file, and the lock file against what the registry says it has published."""
    standings = await look_at(skills, [skill for skill, _ in listed])
    found = []
    for (skill, folders), standing in zip(listed, standings, strict=True):
        local = verify_offline(skill, folders, scope=scope, limits=limits)
        problems = await _problems(skills, skill, standing)
        found.append(
            msgspec.structs.replace(
                local,
                against=LOCK_ALONE
                if standing.status is StandingStatus.ELSEWHERE
                else f"the lock file and {skills.server}",
                is_same=local.is_same and not problems,
                is_taken_back=standing.is_taken_back,
                status=standing.status.value,
                problems=tuple(problems),
            )
        )
    return found


async def verify_stranger(skills: Skills, wish: Wish, folder: Path, *, limits: SkillLimits) -> Verification:
    """A folder that no lock file knows against one version of a skill."""
    wish = await skills.resolve(wish)
    skill = await skills.show(wish.skill)
    version = await skills.version(skill.slug, wish.version or skill.version)
    check = _check(folder, version.files, limits=limits, shown=str(folder))
    blocks = await skills.blocks(
        version.slug, name=version.name, digest=version.content_digest, repo_url=version.repo_url
    )
    problems = [f"The version was yanked: {version.yank_reason}"] if version.yanked_at else []
    problems += [f"It is blocked {told_blocks(blocks)}"] if blocks else []
    return Verification(
        slug=version.slug,
        version=version.version,
        content_digest=version.content_digest,
        against=skills.server,
        is_same=not check.differences,
        is_taken_back=bool(problems),
        folders=(check,),
        problems=tuple(problems),
    )


async def _problems(skills: Skills, skill: LockedSkill, standing: Standing) -> list[str]:
    """What the registry says against what the lock file states."""
    if standing.status is StandingStatus.ELSEWHERE:
        return []
    if standing.is_taken_back:
        problems = [f"It is {standing.status.value}: {standing.reason or 'no reason was kept'}"]
    elif standing.status is StandingStatus.UNKNOWN:
        return [f"{skills.server} knows no such skill."]
    else:
        problems = []
    try:
        published = await skills.version(standing.current_slug or skill.slug, skill.version)
    except NotFound as exc:
        return problems or [exc.message]
    if published.content_digest != skill.content_digest:
        problems.append(
            f"The lock file states {skill.content_digest}, but {skills.server} has published {published.content_digest} as "
            f"{skill.version}."
        )
    return problems


def _check(folder: Path, files: Sequence[VersionFile], *, limits: SkillLimits, shown: str) -> FolderCheck:
    try:
        return check_folder(folder, files, limits=limits, shown=shown)
    except UnreadableSkill as exc:
        unread = Difference(path=".", change=FileChangeKind.CHANGED, detail=exc.message)
        return FolderCheck(folder=shown, digest="", differences=(unread,))
