"""Judging a skill: its bytes are pinned, now they are scanned, and the report decides."""

from __future__ import annotations

from vskill_platform.domain.blocklist import Block, BlockKind, digest_block_key
from vskill_platform.domain.decision import (
    Decision,
    blocks_its_bytes,
    decide,
    decide_again,
    tier_for,
    was_approved,
)
from vskill_platform.domain.errors import Conflict, MalformedRecord
from vskill_platform.domain.judged_decision import decide_judged, is_verified
from vskill_platform.domain.judgement import Judgement
from vskill_platform.domain.lint import Lint
from vskill_platform.domain.records import Submission
from vskill_platform.domain.scan import ScanReport
from vskill_platform.domain.submission import APPROVED_STATES, Actor, SubmissionState, Trigger
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.pipeline.candidate import Candidate, find_candidate, read_skill_md
from vskill_platform.pipeline.delivery import Delivery
from vskill_platform.pipeline.pinning import Pinned
from vskill_platform.pipeline.publish import (
    Publication,
    is_offered,
    log_gains,
    prepare_publication,
    withdrawing_published,
)
from vskill_platform.pipeline.second_opinions import asking_for_review, hear_opinions
from vskill_platform.pipeline.tier2 import ask_judge
from vskill_platform.ports.commit import ABSENT, Operation
from vskill_platform.stores.blocklist import blocking, find_block, get_block
from vskill_platform.stores.rule_changes import get_rule_changes
from vskill_platform.stores.scans import TIER1, ScanRecord, recording
from vskill_platform.stores.vendors import find_vendor
from vskill_platform.stores.versions import get_version
from vskill_platform.worker_context import current_env

_TRIES = 3


async def judge_skill(delivery: Delivery, pinned: Pinned) -> None:
    """Scan the pinned bytes and do what the report says. Raises UnreadableSkill where there is no skill in them."""
    skill_md = await read_skill_md(delivery.submission, pinned)
    block = await find_block(delivery.submission, names=[skill_md.name or ""], content_digest=pinned.pin.content_digest)
    if block is not None:
        await block_submission(delivery, block, pinned)
        return
    changes = await get_rule_changes()
    report = await current_env("scanner").scanner.scan(pinned.content, changes=changes.words)
    delivery.lap("scan")
    judgement = await ask_judge(delivery, pinned, report)
    decision = await _decide(delivery.submission, pinned, report, judgement)
    by_hand = was_approved(delivery.submission, pinned.pin.content_digest)
    verified = is_verified(report, judgement)
    tier = tier_for(decision.target, is_approved_by_hand=by_hand, is_verified=verified)
    candidate = Candidate(delivery.submission, pinned, skill_md, report, tier)
    if decision.target in APPROVED_STATES:
        heard = await hear_opinions(
            delivery, candidate, decision, operations=_recorded(candidate), changes=_told(pinned, report)
        )
        if heard is None:
            return
        decision = heard
    if decision.target in APPROVED_STATES:
        await _publish(delivery, candidate, decision)
    else:
        await _turn_away(delivery, candidate, decision)


async def _decide(submission: Submission, pinned: Pinned, report: ScanReport, judgement: Judgement | None) -> Decision:
    """What a person decided about these bytes; else what report and judge say, which a vendor may look forward to."""
    digest = pinned.pin.content_digest
    decided = decide_again(submission, digest)
    if decided is not None:
        return decided
    vendor = await find_vendor(submission.repo_url)
    if judgement is None:
        return decide(report, vendor=vendor)
    return decide_judged(report, judgement, vendor=vendor, is_offered=await is_offered(submission, digest))


async def publish_approved(delivery: Delivery) -> None:
    """Publish what was approved and not published: the bytes that were pinned, with the report that approved them."""
    candidate = await find_candidate(delivery.submission, tier=tier_for(delivery.submission.state))
    if candidate is None:
        raise MalformedRecord(
            f"Submission '{delivery.submission.id}' is approved, but what was approved is not known. Reprocess it.",
            id=delivery.submission.id,
        )
    publication = await prepare_publication(candidate)
    step = delivery.step(SubmissionState.PUBLISHED, Trigger.PUBLISHED, publication.message, changes=publication.changes)
    await delivery.finish(step, operations=publication.operations)
    log_gains(publication)


async def block_submission(delivery: Delivery, block: Block, pinned: Pinned | None = None) -> None:
    """Stop a submission that the blocklist stands against, and take back what it had published."""
    submission = delivery.submission
    pin = submission.pin if pinned is None else pinned.pin
    step = delivery.step(
        SubmissionState.BLOCKED,
        Trigger.BLOCKLIST_MATCHED,
        f"On the blocklist by its {block.kind.value}: {block.reason}",
        changes={
            "reason": f"blocked_{block.kind.value}",
            "pin": pin,
            "commit": submission.commit if pin is None else pin.commit,
        },
    )
    digest = block.digest or None
    withdrawn = await withdrawing_published(submission, reason=block.reason, content_digest=digest)
    await delivery.finish(step, operations=withdrawn)


async def _publish(delivery: Delivery, candidate: Candidate, decision: Decision) -> None:
    """Approval and publication in one commit, with a history entry each; again where another skill was in the way."""
    for attempt in range(_TRIES):
        publication = await prepare_publication(candidate)
        delivery.lap("publish")
        try:
            await _finish_published(delivery, candidate, decision, publication)
        except Conflict:
            block = await find_block(
                candidate.submission, names=candidate.names, content_digest=candidate.content_digest
            )
            if block is not None:
                await block_submission(delivery, block, candidate.pinned)
                return
            if attempt == _TRIES - 1:
                raise
        else:
            log_gains(publication)
            return


async def _finish_published(
    delivery: Delivery, candidate: Candidate, decision: Decision, publication: Publication
) -> None:
    pinned, report = candidate.pinned, candidate.report
    approved = delivery.step(decision.target, decision.trigger, decision.message)
    published = delivery.step(
        SubmissionState.PUBLISHED,
        Trigger.PUBLISHED,
        publication.message,
        after=approved.submission,
        changes={**_told(pinned, report), **publication.changes},
    )
    operations = [*_recorded(candidate), *publication.operations]
    await delivery.finish(approved, published, operations=operations)


async def _turn_away(delivery: Delivery, candidate: Candidate, decision: Decision) -> None:
    submission, pinned, report = delivery.submission, candidate.pinned, candidate.report
    operations = _recorded(candidate, published_run=await _published_run(submission))
    if decision.target is SubmissionState.NEEDS_REVIEW:
        operations += await asking_for_review(candidate)
    else:
        operations += await withdrawing_published(
            submission, reason=decision.message, content_digest=pinned.pin.content_digest
        )
    if blocks_its_bytes(report) and await get_block(digest_block_key(pinned.pin.content_digest)) is None:
        operations += blocking(_block_of_bytes(delivery, pinned, decision), if_version=ABSENT)
    changes = {"reason": decision.reason, **_told(pinned, report)}
    step = delivery.step(decision.target, decision.trigger, decision.message, changes=changes)
    await delivery.finish(step, operations=operations)


def _block_of_bytes(delivery: Delivery, pinned: Pinned, decision: Decision) -> Block:
    return Block(
        kind=BlockKind.DIGEST,
        digest=pinned.pin.content_digest,
        skill_name=delivery.submission.skill_name,
        repo_url=delivery.submission.repo_url,
        reason=decision.message,
        actor=Actor.SYSTEM,
        created_at=iso_from_ms(current_env("clock").clock.now_ms()),
        submission_id=delivery.submission.id,
    )


def _told(pinned: Pinned, report: ScanReport) -> dict[str, object]:
    """What the submission's record says of the scan."""
    return {
        "pin": pinned.pin,
        "commit": pinned.pin.commit,
        "verdict": report.verdict,
        "score": report.score,
        "ruleset_version": report.ruleset_version,
    }


async def _published_run(submission: Submission) -> int | None:
    """The run that made the version which is published, if there is one."""
    if submission.slug is None or submission.version is None:
        return None
    version = await get_version(submission.slug, submission.version)
    return None if version is None else version.run


def _recorded(candidate: Candidate, *, published_run: int | None = None) -> list[Operation]:
    submission, skill_md = candidate.submission, candidate.skill_md
    scan = ScanRecord(
        submission_id=submission.id,
        run=submission.run,
        tier=TIER1,
        scanned_at=iso_from_ms(current_env("clock").clock.now_ms()),
        commit=candidate.pinned.pin.commit,
        report=candidate.report,
        lint=Lint(strict_valid=skill_md.is_strict_valid, problems=skill_md.problems),
    )
    return recording(scan, published_run=published_run)
