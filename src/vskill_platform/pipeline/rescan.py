"""Looking again: the same bytes by today's rules (rescan), or everything from the start (reprocess)."""

from __future__ import annotations

from vskill_platform.domain.errors import IllegalTransition, NotFound
from vskill_platform.domain.records import Submission
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.pipeline.runs import start_run_of, starting_next_run
from vskill_platform.stores.skills import find_skill, iter_published_skills, resolve_slug


async def rescan_submission(identity: str, *, actor: Actor = Actor.ADMIN) -> Submission:
    """Scan what a submission has published once more. Nothing is fetched: the run is about the bytes that were pinned."""
    return await start_run_of(
        identity,
        lambda found: starting_next_run(
            found,
            trigger=Trigger.RESCANNED,
            actor=actor,
            message="To be scanned again, by the rules of today.",
            pin=found.submission.pin,
        ),
    )


async def rescan_skill(slug: str, *, actor: Actor = Actor.ADMIN) -> Submission:
    """The same for a published skill, by its slug or an older one."""
    current = await resolve_slug(slug)
    found = None if current is None else await find_skill(current)
    if found is None:
        raise NotFound(f"There is no published skill '{slug}'.", slug=slug)
    return await rescan_submission(found.skill.submission_id, actor=actor)


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
                started.append(await rescan_submission(found.skill.submission_id, actor=actor))
            except (NotFound, IllegalTransition):
                continue
    return started


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
