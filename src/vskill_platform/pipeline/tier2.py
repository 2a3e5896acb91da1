"""Tier 2: the judge is asked about what tier 1 has scanned, and what it said is kept with the scan.

The submission stands in TIER2_SCANNING meanwhile, by a commit of its own. Whoever dies there is delivered again and starts anew.
"""

from __future__ import annotations

from vskill_platform.domain.decision import decide_again
from vskill_platform.domain.judgement import Judgement
from vskill_platform.domain.scan import ScanReport, Verdict
from vskill_platform.domain.submission import SubmissionState, Trigger
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.pipeline.delivery import Delivery
from vskill_platform.pipeline.pinning import Pinned
from vskill_platform.ports.commit import Operation
from vskill_platform.stores.scans import JudgementRecord, recording_judgement
from vskill_platform.worker_context import current_env


async def ask_judge(delivery: Delivery, pinned: Pinned, report: ScanReport) -> Judgement | None:
    """What the judge says. None where nobody is asked: there is no judge, tier 1 fails it, or a person has decided."""
    env = current_env("judge")
    digest = pinned.pin.content_digest
    if env.judge is None or report.verdict is Verdict.FAIL or decide_again(delivery.submission, digest) is not None:
        return None
    await enter_tier2(delivery, f"Tier 1 gives {report.score} of 100. The judge is asked.")
    judgement = await env.judge.judge(pinned.content, report)
    delivery.keep(recording_judgement(_record(delivery, digest, judgement)))
    delivery.lap("judge")
    return judgement


async def enter_tier2(delivery: Delivery, message: str, *, operations: list[Operation] | None = None) -> None:
    """Move the claimed submission to TIER2_SCANNING and commit what goes with that; the claim stays.

    Where it stands there already nothing happens, so whoever has operations to commit comes first.
    """
    if delivery.submission.state is SubmissionState.TIER2_SCANNING:
        return
    step = delivery.step(
        SubmissionState.TIER2_SCANNING,
        Trigger.TIER1_PASSED,
        message,
        changes={"claim": delivery.submission.claim},
    )
    await delivery.move_on(step, operations=operations)


def _record(delivery: Delivery, digest: str, judgement: Judgement) -> JudgementRecord:
    return JudgementRecord(
        submission_id=delivery.submission.id,
        run=delivery.submission.run,
        judged_at=iso_from_ms(current_env("clock").clock.now_ms()),
        content_digest=digest,
        judgement=judgement,
    )
