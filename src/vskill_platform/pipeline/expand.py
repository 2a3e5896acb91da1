"""A repository becomes its skills: one submission each, all in one commit."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import structlog

from vskill_platform.domain.blocklist import BLOCKED_DIGEST
from vskill_platform.domain.errors import Conflict, NoSkillFound, RepositoryTooLarge, TooManySkills, UnreadableSkill
from vskill_platform.domain.ids import claim_key
from vskill_platform.domain.records import Pin, Submission
from vskill_platform.domain.skill_folders import NamedFolder, is_below, name_skill_folders, shared_names
from vskill_platform.domain.slug import split_repository_url
from vskill_platform.domain.submission import (
    APPROVED_STATES,
    CATEGORY_OF,
    Actor,
    Category,
    SubmissionState,
    Trigger,
)
from vskill_platform.ingest.escaping import printable
from vskill_platform.pipeline.delivery import Delivery
from vskill_platform.pipeline.pinning import pin_content
from vskill_platform.pipeline.rules import rules_in_force
from vskill_platform.pipeline.runs import starting_first_run, starting_next_run
from vskill_platform.ports.commit import Operation
from vskill_platform.ports.source import Snapshot
from vskill_platform.stores.submissions import Found, find_submission
from vskill_platform.worker_context import current_env

_TRIES = 5
_COPIES = 20
"""How many copies of its skills a repository may hold, as some do for several agents."""
_CHILDREN_AT_ONCE = 25
"""How many are looked up before others get a turn."""
_log = structlog.get_logger(__name__)


class _Child(NamedTuple):
    """A skill of the repository: its folder, and its bytes, or why they could not be had."""

    folder: NamedFolder
    pin: Pin | None


async def expand_repository(delivery: Delivery, snapshot: Snapshot) -> None:
    """Start a run for every skill of the snapshot that is new or has changed, and end the parent as EXPANDED.

    The skills' bytes are kept before the commit, so no skill is fetched again and all are of one commit.
    """
    submission = delivery.submission
    folders = require_skills(submission.repo_url, snapshot, await name_folders(submission.repo_url, snapshot))
    children = await _read_children(submission, snapshot, folders)
    delivery.lap("read")
    for _ in range(_TRIES):
        ids, operations, started = await _starting(submission, snapshot, children)
        step = delivery.step(
            SubmissionState.EXPANDED,
            Trigger.EXPANDED,
            f"{len(ids)} {'skill' if len(ids) == 1 else 'skills'} at {snapshot.commit[:12]}, {started} new or changed.",
            changes={"commit": snapshot.commit, "children": tuple(ids)},
        )
        try:
            await delivery.finish(step, operations=operations)
        except Conflict:
            continue
        _log.info("repository_expanded", submission=submission.id, skills=len(ids), started=started)
        return
    raise Conflict(f"The skills of {submission.repo_url} change faster than they can be taken in.")


async def name_folders(repo_url: str, snapshot: Snapshot) -> list[NamedFolder]:
    """All skills of a snapshot by their names. One that others come to share stays with the folder that had it first."""
    repository = split_repository_url(repo_url).name
    limit = current_env("settings").settings.repo_max_skills
    if len(snapshot.folders) > limit * _COPIES:
        # A forged tree has as many as one likes, so this comes before anything is made of them.
        raise _too_many(repo_url, snapshot, limit)
    holders: dict[str, str] = {}
    for name in shared_names(snapshot.folders, repository=repository):
        found = await _find_child(repo_url, name)
        if found is not None:
            holders[name] = found.submission.skill_path
    return await asyncio.to_thread(name_skill_folders, snapshot.folders, repository=repository, holders=holders)


def require_skills(repo_url: str, snapshot: Snapshot, named: list[NamedFolder]) -> list[NamedFolder]:
    """Those of the named skills that were asked for. Raises NoSkillFound or TooManySkills."""
    folders = [folder for folder in named if is_below(folder.path, snapshot.asked_for)]
    if not folders:
        raise NoSkillFound(
            f"{repo_url} has no SKILL.md at {snapshot.commit[:12]}. "
            "A skill is a folder with a SKILL.md; add one and submit again.",
            commit=snapshot.commit,
        )
    limit = current_env("settings").settings.repo_max_skills
    if len(folders) > limit:
        raise _too_many(repo_url, snapshot, limit)
    return folders


def _too_many(repo_url: str, snapshot: Snapshot, limit: int) -> TooManySkills:
    return TooManySkills(
        f"{repo_url} has more than {limit} skills, the most that can be taken in at once. "
        "Submit a part of it, by the address of a folder, or split it.",
        folders=len(snapshot.folders),
        commit=snapshot.commit,
    )


async def _read_children(submission: Submission, snapshot: Snapshot, folders: list[NamedFolder]) -> list[_Child]:
    """Read and keep every skill. Raises RepositoryTooLarge: the same few files in a thousand folders add up."""
    limit = current_env("settings").settings.repo_max_skill_bytes
    children: list[_Child] = []
    size = 0
    for folder in folders:
        child, child_size = await _read_child(snapshot, folder)
        size += child_size
        if size > limit:
            raise RepositoryTooLarge(
                f"The skills of {submission.repo_url} have more than {limit} bytes together. "
                "Submit a part of it, by the address of a folder.",
                commit=snapshot.commit,
            )
        children.append(child)
    return children


async def _read_child(snapshot: Snapshot, folder: NamedFolder) -> tuple[_Child, int]:
    """A skill that cannot be read is taken in all the same: its own run says what is wrong with it."""
    try:
        content = await snapshot.read_skill(folder.path)
    except UnreadableSkill as error:
        _log.info("skill_unreadable", path=printable(folder.path), code=error.code)
        return _Child(folder, None), 0
    return _Child(folder, (await pin_content(content, commit=snapshot.commit)).pin), content.size


async def _starting(
    parent: Submission, snapshot: Snapshot, children: list[_Child]
) -> tuple[list[str], list[Operation], int]:
    """The ids of all children, the operations that start runs, and of how many."""
    ids: list[str] = []
    operations: list[Operation] = []
    started = 0
    ruleset_version = (await rules_in_force()).ruleset.version
    for number, child in enumerate(children):
        if number % _CHILDREN_AT_ONCE == 0:
            await asyncio.sleep(0)
        found = await _find_child(parent.repo_url, child.folder.name)
        if found is not None and not _wants_run(found.submission, child, ruleset_version):
            ids.append(found.submission.id)
            continue
        submission, starting = _start(parent, snapshot, child, found)
        ids.append(submission.id)
        operations += starting
        started += 1
    return ids, operations, started


async def _find_child(repo_url: str, name: str) -> Found | None:
    entry = await current_env("kv").kv.get(claim_key(repo_url, name))
    return None if entry is None else await find_submission(entry.value.decode())


def _wants_run(submission: Submission, child: _Child, ruleset_version: str) -> bool:
    """Whether a skill that is known already is to be looked at again.

    Never what its publisher took back. Other bytes are, unless a person's block stands, which the run would only meet
    again. The same bytes are where the run before could not decide about them, or other rules did.
    """
    if submission.state in APPROVED_STATES or submission.is_taken_back:
        return False
    if child.pin is None or submission.pin is None or _has_changed(submission.pin, child.pin):
        return submission.state is not SubmissionState.BLOCKED or submission.reason == BLOCKED_DIGEST
    if submission.state is SubmissionState.TIER1_FAILED:
        return submission.ruleset_version != ruleset_version
    return CATEGORY_OF[submission.state] is Category.REJECTED and submission.reason != Trigger.REVIEW_REJECTED


def _has_changed(before: Pin, now: Pin) -> bool:
    return before.content_digest != now.content_digest or before.omitted != now.omitted


def _start(
    parent: Submission, snapshot: Snapshot, child: _Child, found: Found | None
) -> tuple[Submission, list[Operation]]:
    origin: dict[str, Any] = {"parent_id": parent.id, "commit": snapshot.commit, "submitted_by": parent.submitted_by}
    if found is None:
        return starting_first_run(
            parent.repo_url,
            skill_name=child.folder.name,
            skill_path=child.folder.path,
            actor=Actor.SYSTEM,
            pin=child.pin,
            priority=parent.priority,
            **origin,
        )
    return starting_next_run(
        found,
        trigger=Trigger.RESUBMITTED,
        actor=Actor.SYSTEM,
        message=f"Submitted again with {parent.repo_url} at {snapshot.commit[:12]}.",
        pin=child.pin,
        skill_path=child.folder.path,
        repo_url=parent.repo_url,
        tree_path="",
        **origin,
    )
