"""Removing an installed skill: out of the folders of agents and out of the lock file, and nothing that is somebody else's."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import msgspec

from vskill_platform.client.agents import Scope
from vskill_platform.client.lock_file import LockedSkill, holding, read_lock, write_lock
from vskill_platform.client.placing import check_target, clear_leftovers, taken_away
from vskill_platform.domain.errors import InvalidInput, NotFound
from vskill_platform.ingest.limits import SkillLimits


class Removed(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A skill that was removed: from which folders, and which agents still have it."""

    slug: str
    version: str
    folders: tuple[str, ...]
    still_for: tuple[str, ...] = ()


def uninstall(slug: str, *, scope: Scope, agents: Collection[str], limits: SkillLimits, force: bool = False) -> Removed:
    """Remove an installed skill from these agents, from all where none is named; a folder that another agent reads stays.

    Raises NotFound, InvalidInput, FolderTaken for a folder that was changed since, or InstallFailed; nothing has changed then.
    """
    with holding(scope.root):
        lock = read_lock(scope.lock_path)
        skill = lock.skills.get(slug)
        if skill is None:
            raise NotFound(f"{slug} is not installed here any more: another client was faster.")
        kept = _kept(skill, scope, without=agents)
        folders = _folders_without(scope, skill, kept=kept)
        for folder in folders:
            clear_leftovers(folder.parent)
            if not force:
                check_target(folder, ours={skill.content_digest}, limits=limits)
        with taken_away(folders):
            write_lock(scope.lock_path, lock.without(slug) if kept is None else lock.having(kept))
    return Removed(
        slug=slug,
        version=skill.version,
        folders=tuple(scope.shown(folder) for folder in folders),
        still_for=() if kept is None else kept.agents,
    )


def _kept(skill: LockedSkill, scope: Scope, *, without: Collection[str]) -> LockedSkill | None:
    """The entry for the agents that keep the skill; None where none does. Raises InvalidInput for one that does not have it."""
    strangers = sorted(set(without) - set(skill.agents))
    if strangers:
        raise InvalidInput(
            f"{skill.slug} is not installed for {', '.join(strangers)}. It is for {', '.join(skill.agents)}."
        )
    staying = [agent for agent in skill.chosen_agents if without and agent.name not in without]
    if not staying:
        return None
    folders = tuple(scope.shown(folder) for folder in scope.places(staying, name=skill.name))
    return msgspec.structs.replace(skill, agents=tuple(agent.name for agent in staying), folders=folders)


def _folders_without(scope: Scope, skill: LockedSkill, *, kept: LockedSkill | None) -> list[Path]:
    """The folders of a skill that no agent reads any more: one agent's folder may be a link to another's."""
    staying = (
        {folder.parent.resolve() for folder in scope.places(kept.chosen_agents, name=skill.name)} if kept else set()
    )
    places = scope.places(skill.chosen_agents, name=skill.name)
    return [folder for folder in places if folder.parent.resolve() not in staying]
