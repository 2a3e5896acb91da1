"""Looking again: the same bytes by today's rules (rescan), or everything from the start (reprocess)."""

from __future__ import annotations

import structlog

from vskill_platform.domain.errors import IllegalTransition, NotFound, VskillError
from vskill_platform.domain.records import Pin, Submission
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.domain.tombstone import Departure
from vskill_platform.pipeline.pinning import published_pin
from vskill_platform.pipeline.runs import start_run_of, starting_next_run
from vskill_platform.ports.commit import Operation
from vskill_platform.stores.skills import FoundSkill, alias_end, find_skill, iter_published_skills
from vskill_platform.stores.submissions import Found, get_submission
from vskill_platform.stores.tombstones import get_tombstone

_log = structlog.get_logger(__name__)


async def rescan_skill(slug: str, *, actor: Actor = Actor.ADMIN) -> Submission:
    """Scan what is, or was, published under a slug (or an older one) once more, whatever became of its submission since.

    Nothing is fetched: the run is about the bytes of the published version.
    """
    found = await find_skill(await alias_end(slug))
    if found is None:
        raise NotFound(f"There is no skill '{slug}', and there was none.", slug=slug)
    await _refuse_held(found)
    pin = await published_pin(found.skill)
    return await start_run_of(found.skill.submission_id, lambda found: _starting(found, pin, actor=actor))


async def starting_rescan(skill: Skill, *, urgency: int) -> tuple[Submission, list[Operation]]:
    """The operations that have a published skill scanned again, for a commit of the caller's. Raises IllegalTransition."""
    pin = await published_pin(skill)
    return _starting(await get_submission(skill.submission_id), pin, actor=Actor.SYSTEM, urgency=urgency)


def _starting(found: Found, pin: Pin, *, actor: Actor, urgency: int = 0) -> tuple[Submission, list[Operation]]:
    return starting_next_run(
        found,
        trigger=Trigger.RESCANNED,
        actor=actor,
        message="To be scanned again, by the rules of today.",
        pin=pin,
        urgency=urgency,
    )


async def rescan_submission(identity: str, *, actor: Actor = Actor.ADMIN) -> Submission:
    """The same for what a submission has published. Raises IllegalTransition where it has published nothing."""
    submission = (await get_submission(identity)).submission
    found = None if submission.slug is None else await find_skill(submission.slug)
    if found is None or found.skill.submission_id != identity:
        raise IllegalTransition(
            f"Submission '{identity}' has published nothing that could be scanned again. Requeue it instead.",
            id=identity,
        )
    return await rescan_skill(found.skill.slug, actor=actor)


async def rescan_outdated(ruleset_version: str, *, limit: int, actor: Actor = Actor.ADMIN) -> list[Submission]:
    """Start a rescan of published skills that were last scanned by other rules, at most `limit` of them."""
    started: list[Submission] = []
    async for chunk in iter_published_skills():
        for summary in chunk:
            if len(started) >= limit:
                return started
            found = await find_skill(summary.slug)
            if found is None or found.is_withdrawn or found.skill.ruleset_version == ruleset_version:
                continue
            try:
                started.append(await rescan_skill(summary.slug, actor=actor))
            except VskillError as error:
                _log.warning("rescan_not_started", slug=summary.slug, code=error.code, error=error.message)
    return started


async def _refuse_held(found: FoundSkill) -> None:
    """What somebody has put aside is not looked at again by itself: whatever the scan said, it could not be published."""
    tombstone = await get_tombstone(found.skill.slug) if found.is_withdrawn else None
    if tombstone is not None and tombstone.kind in (Departure.QUARANTINED, Departure.YANKED):
        raise IllegalTransition(
            f"'{found.skill.slug}' is {tombstone.kind.value}: {tombstone.reason} Restore it first.",
            slug=found.skill.slug,
        )


async def reprocess_submission(identity: str) -> Submission:
    """Take a submission that ended, or waits for a person, through from the start: fetched anew, scanned, decided."""
    return await start_run_of(
        identity,
        lambda found: starting_next_run(
            found,
            trigger=Trigger.RESCANNED if found.submission.state is SubmissionState.PUBLISHED else Trigger.REPROCESSED,
            actor=Actor.ADMIN,
            message="To be taken through again from the start.",
        ),
    )
