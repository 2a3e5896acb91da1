"""Installing a skill: from a wish to checked bytes in the folders of agents and an entry of the lock file."""

from __future__ import annotations

from collections.abc import Sequence

from vskill_platform.client.agents import Agent, Scope
from vskill_platform.client.answers import VersionAnswer
from vskill_platform.client.connection import Tell
from vskill_platform.client.lock_file import FOLDER_NAME, LockedSkill, LockFile, holding, read_lock, write_lock
from vskill_platform.client.placing import check_target, clear_leftovers, place
from vskill_platform.client.skills import Skills, Wish
from vskill_platform.domain.errors import ArchiveRefused, FolderTaken
from vskill_platform.ingest.limits import SkillLimits


async def install(
    skills: Skills,
    wish: Wish,
    *,
    scope: Scope,
    agents: Sequence[Agent],
    now: str,
    limits: SkillLimits,
    tell: Tell,
    force: bool = False,
    digest: str = "",
    former: str = "",
) -> LockedSkill:
    """Install a skill for these agents, beside those that have it already.

    With `digest`, these bytes and no others; `former` is the slug that the skill is installed under where it has another now.
    Raises what `Skills.offered` does, ArchiveRefused, FolderTaken or InstallFailed; nothing has changed then.
    """
    version = await skills.offered(wish)
    if digest not in ("", version.content_digest):
        raise ArchiveRefused(
            f"{version.slug} {version.version} of {skills.server} has other bytes than the lock file states. A published version "
            "never changes: the lock file was altered, or this is another registry. Nothing was installed."
        )
    content = await skills.fetch(version, limits=limits, tell=tell)
    with holding(scope.root):
        lock = read_lock(scope.lock_path)
        before = lock.skills.get(former or version.slug)
        if not force:
            _check_lock(lock, version, before=before, server=skills.server)
        locked = _locked(version, before, scope=scope, agents=agents, server=skills.server, now=now)
        folders = scope.places(locked.chosen_agents, name=locked.name)
        for folder in folders:
            clear_leftovers(folder.parent)
            if not force:
                check_target(folder, ours=_digests(version, before), limits=limits)
        place(content, folders, limits=limits)
        write_lock(scope.lock_path, lock.having(locked))
    return locked


def _locked(
    version: VersionAnswer, before: LockedSkill | None, *, scope: Scope, agents: Sequence[Agent], server: str, now: str
) -> LockedSkill:
    """The entry of the lock file that a skill will have."""
    has_it = [] if before is None else before.chosen_agents
    wanted = list(dict.fromkeys([*has_it, *agents]))
    name = folder_name(version) if before is None else before.name
    return LockedSkill(
        server=server,
        slug=version.slug,
        name=name,
        version=version.version,
        content_digest=version.content_digest,
        archive_digest=version.tar.digest,
        repo_url=version.repo_url,
        files=version.files,
        agents=tuple(agent.name for agent in wanted),
        folders=tuple(scope.shown(folder) for folder in scope.places(wanted, name=name)),
        installed_at=now,
    )


def _digests(version: VersionAnswer, before: LockedSkill | None) -> set[str]:
    """What may lie in a folder without being somebody else's: what is to be there, and what was installed before."""
    return {version.content_digest} | ({before.content_digest} if before is not None else set())


def folder_name(version: VersionAnswer) -> str:
    """What the folder of a skill is called: as the skill is, where that can be the name of a folder everywhere."""
    return version.name if FOLDER_NAME.fullmatch(version.name) else version.slug.rsplit("/", 1)[-1]


def _check_lock(lock: LockFile, version: VersionAnswer, *, before: LockedSkill | None, server: str) -> None:
    """Raise FolderTaken where the lock file says that the skill, or its folder, is another's."""
    if before is not None and before.server != server:
        raise FolderTaken(
            f"{version.slug} is installed from {before.server}. Take it from {server} in its place with --force."
        )
    name = folder_name(version)
    other = next((one for one in lock.skills.values() if one.name == name), None)
    if before is None and other is not None:
        raise FolderTaken(
            f"'{name}' is installed already, as {other.slug}. An agent knows one skill of a name: have that one replaced with "
            "--force, or leave it."
        )
