"""Scanning everything that is published again, by the rules in force: one rescan at a time, a few skills in flight, in the rear.

Each skill's new run begins in the commit that notes it in the rescan's record. So whoever goes on with it, after a crash too,
starts no skill twice and forgets none. What comes of a run is read from its submission.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import msgspec
import structlog

from vskill_platform.domain.errors import Conflict, IllegalTransition, StoreUnavailable, VskillError
from vskill_platform.domain.records import Submission
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.submission import DELIVERABLE_STATES
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.pipeline.kept_reports import PART_SKILLS, count_published
from vskill_platform.pipeline.rescan import starting_rescan
from vskill_platform.pipeline.rules import rules_in_force
from vskill_platform.stores.rescans import (
    FAILURES_TOLD,
    FoundRescan,
    InFlight,
    Rescan,
    RescanState,
    beginning,
    find_active_rescan,
    get_rescan,
    going_on,
)
from vskill_platform.stores.skills import read_published_part
from vskill_platform.stores.submissions import get_submissions_fresh
from vskill_platform.worker_context import current_env

URGENCY = -1000
"""Far behind everything that somebody waits for."""
LOOK_S = 0.2
_TRIES = 5
_log = structlog.get_logger(__name__)


async def start_rescan(*, by: str, reason: str) -> Rescan:
    """Begin to scan everything again that was published by other rules. Raises Conflict while another rescan goes on."""
    env = current_env("writes")
    rescan = Rescan(
        id=env.random_id().hex,
        state=RescanState.RUNNING,
        ruleset_version=(await rules_in_force()).ruleset.version,
        by=by,
        reason=reason,
        began_at=iso_from_ms(env.clock.now_ms()),
        total=await count_published(),
    )
    try:
        await env.writes.commit(beginning(rescan))
    except Conflict as exc:
        raise Conflict("A rescan is under way. Wait for its end, or stop it.") from exc
    return rescan


async def steer_rescan(identity: str, state: RescanState) -> Rescan:
    """Pause a rescan, let it go on, or stop it for good. What is in flight is scanned all the same."""
    for _ in range(_TRIES):
        found = await get_rescan(identity)
        if found.rescan.has_ended:
            raise IllegalTransition(f"The rescan has ended ({found.rescan.state.value}). Start another.", id=identity)
        try:
            return (await _keep(found, msgspec.structs.replace(found.rescan, state=state))).rescan
        except Conflict:
            continue
    raise Conflict("The rescan moves on too fast to be steered. Try again.")


async def advance_rescan(*, until_ms: int) -> int:
    """Go on with the rescan that is under way, if one is, until that moment. Gives how many skills were started or counted."""
    clock = current_env("clock").clock
    moved = 0
    while (found := await find_active_rescan()) is not None:
        try:
            step = await _step(found)
        except Conflict:
            continue  # somebody has steered it, or another process does the same: read again
        moved += step.moved
        if step.is_at_rest or clock.now_ms() >= until_ms:
            break
        if not step.moved:
            await clock.sleep(LOOK_S)
    return moved


class _Step(NamedTuple):
    """How much a step has moved, and whether there is nothing to do until somebody steers."""

    moved: int
    is_at_rest: bool = False


async def _step(found: FoundRescan) -> _Step:
    before = found.rescan
    found = await _count_ended(found)
    if found.rescan.state is RescanState.RUNNING:
        found = await _fill_up(found)
    rescan = found.rescan
    if rescan.is_walked and not rescan.in_flight:
        await _keep(found, msgspec.structs.replace(rescan, state=RescanState.DONE))
        return _Step(1, is_at_rest=True)
    moved = rescan.examined + rescan.finished - before.examined - before.finished
    return _Step(moved, is_at_rest=rescan.state is RescanState.PAUSED and not rescan.in_flight)


async def _count_ended(found: FoundRescan) -> FoundRescan:
    """Take out of flight what has ended, and count what came of it."""
    flying = found.rescan.in_flight
    read = await get_submissions_fresh([one.submission_id for one in flying])
    if read.failed:
        raise StoreUnavailable(f"{read.failed} submissions could not be read. Try again shortly.")
    now = {submission.id: submission for submission in read}
    ended = [one for one in flying if _has_ended(one, now.get(one.submission_id))]
    if not ended:
        return found
    rescan = msgspec.structs.replace(found.rescan, in_flight=tuple(one for one in flying if one not in ended))
    for one in ended:
        rescan = _with_end(rescan, one, now.get(one.submission_id))
    return await _keep(found, rescan)


def _has_ended(one: InFlight, submission: Submission | None) -> bool:
    return submission is None or submission.run != one.run or submission.state not in DELIVERABLE_STATES


def _with_end(rescan: Rescan, one: InFlight, submission: Submission | None) -> Rescan:
    """The rescan after a run that has ended. One that a newer run has overtaken is finished, and says nothing of verdicts."""
    if submission is None:
        return _with_failure(rescan, f"{one.slug}: its submission is gone.")
    if submission.run == one.run and submission.verdict is None:
        return _with_failure(rescan, f"{one.slug}: {submission.state.value} ({submission.reason}).")
    changed = Counter(rescan.changed)
    if submission.run == one.run and submission.verdict != one.verdict:
        changed[f"{one.verdict} {submission.verdict}"] += 1
    return msgspec.structs.replace(rescan, finished=rescan.finished + 1, changed=dict(changed))


def _with_failure(rescan: Rescan, told: str) -> Rescan:
    failures = (*rescan.failures, told)[-FAILURES_TOLD:]
    return msgspec.structs.replace(rescan, failed=rescan.failed + 1, failures=failures)


async def _fill_up(found: FoundRescan) -> FoundRescan:
    """Start as many skills as there is room for, from where the walk stands."""
    most = current_env("settings").settings.rescan_in_flight
    while not found.rescan.is_walked and len(found.rescan.in_flight) < most:
        part = await read_published_part(found.rescan.cursor, limit=PART_SKILLS)
        after = found.rescan.after.encode()
        for skill in part.skills:
            if skill.slug.encode() <= after:
                continue
            if len(found.rescan.in_flight) >= most:
                return await _keep(found, found.rescan)
            found = await _take(found, skill)
        rescan, unread = found.rescan, part.skills.malformed
        walked = msgspec.structs.replace(
            rescan,
            cursor=part.cursor,
            after="",
            is_walked=part.cursor is None,
            examined=rescan.examined + unread,
            failed=rescan.failed + unread,
        )
        found = await _keep(found, walked)
    return found


async def _take(found: FoundRescan, skill: Skill) -> FoundRescan:
    """Start one skill in a commit with the record. What is only counted is written with the next commit."""
    rescan = found.rescan
    looked_at = msgspec.structs.replace(rescan, examined=rescan.examined + 1, after=skill.slug)
    if skill.ruleset_version == rescan.ruleset_version:
        return found._replace(rescan=msgspec.structs.replace(looked_at, current=rescan.current + 1))
    try:
        submission, operations = await starting_rescan(skill, urgency=URGENCY)
    except IllegalTransition:
        return found._replace(rescan=msgspec.structs.replace(looked_at, skipped=rescan.skipped + 1))
    except StoreUnavailable:
        raise
    except VskillError as error:
        _log.warning("rescan_not_started", slug=skill.slug, code=error.code, error=error.message)
        return found._replace(rescan=_with_failure(looked_at, f"{skill.slug}: {error.message}"))
    flying = InFlight(slug=skill.slug, submission_id=submission.id, run=submission.run, verdict=skill.verdict)
    started = msgspec.structs.replace(looked_at, started=rescan.started + 1, in_flight=(*rescan.in_flight, flying))
    committed = await current_env("writes").writes.commit([*operations, *going_on(started, if_version=found.version)])
    return FoundRescan(started, committed.version)


async def _keep(found: FoundRescan, rescan: Rescan) -> FoundRescan:
    env = current_env("writes")
    if rescan.has_ended:
        rescan = msgspec.structs.replace(rescan, ended_at=iso_from_ms(env.clock.now_ms()))
        _log.info("rescan_ended", id=rescan.id, state=rescan.state, finished=rescan.finished, failed=rescan.failed)
    committed = await env.writes.commit(going_on(rescan, if_version=found.version))
    return FoundRescan(rescan, committed.version)
