"""Tier 2: the judge is asked about what tier 1 has scanned, and what it said is kept with the scan.

The same question is asked once: what was answered is taken from the store. None is asked beyond the limits of the day.

The submission stands in TIER2_SCANNING meanwhile, by a commit of its own. Whoever dies there is delivered again and starts anew.
"""

from __future__ import annotations

from vskill_platform import metrics
from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.decision import decide_again
from vskill_platform.domain.errors import JudgeUnavailable, JudgeVoid
from vskill_platform.domain.judgement import MAX_ANSWER_TOKENS, Judgement, estimate_tokens
from vskill_platform.domain.scan import ScanReport, Verdict
from vskill_platform.domain.submission import SubmissionState, Trigger
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.pipeline.delivery import Delivery
from vskill_platform.pipeline.pinning import Pinned
from vskill_platform.ports.commit import Operation
from vskill_platform.ports.second_opinions import Judge
from vskill_platform.stores.judge_spending import JudgeStanding, Taken, settling, take_tokens, telling_standing
from vskill_platform.stores.judgements import find_judgement, keeping_judgement
from vskill_platform.stores.scans import JudgementRecord, recording_judgement
from vskill_platform.worker_context import current_env

_MARGIN_BYTES = 12_000
_OUTCOMES = {JudgeUnavailable.code: "unavailable", JudgeVoid.code: "void"}


async def ask_judge(delivery: Delivery, pinned: Pinned, report: ScanReport) -> Judgement | None:
    """What the judge says. None where nobody is asked: there is no judge, tier 1 fails it, or a person has decided."""
    env = current_env("judge")
    digest = pinned.pin.content_digest
    if env.judge is None or report.verdict is Verdict.FAIL or decide_again(delivery.submission, digest) is not None:
        return None
    await enter_tier2(delivery, f"Tier 1 gives {report.score} of 100. The judge is asked.")
    judgement = await _find_or_ask(env.judge, pinned.content, report)
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


async def _find_or_ask(judge: Judge, content: SkillContent, report: ScanReport) -> Judgement:
    found = await find_judgement(report, model=judge.model, prompt_version=judge.prompt_version)
    if found is not None:
        metrics.JUDGEMENTS.labels("cached").inc()
        return found
    # The words of ours, and a line's number before each line, are in the margin.
    shown = min(content.size, current_env("settings").settings.judge_max_input_bytes) + _MARGIN_BYTES
    taken = await take_tokens(tokens_in=estimate_tokens(shown), tokens_out=MAX_ANSWER_TOKENS)
    if taken is None:
        metrics.JUDGEMENTS.labels("over_limit").inc()
        problem = "The judge is not asked any more today: its limit of tokens or cost a day is reached."
        return _no_verdict(judge, JudgeUnavailable(problem))
    judgement = await judge.judge(content, report)
    await _settle(taken, report, judgement)
    return judgement


async def _settle(taken: Taken, report: ScanReport, judgement: Judgement) -> None:
    """One commit: what was really used, how it went, and the judgement for the next time."""
    metrics.JUDGEMENTS.labels(_OUTCOMES.get(judgement.problem_code, "answered")).inc()
    used_in = judgement.tokens - judgement.tokens_out
    standing = JudgeStanding(
        model=judgement.model,
        prompt_version=judgement.prompt_version,
        asked_at=_now(),
        verdict=None if judgement.verdict is None else judgement.verdict.value,
        problem=judgement.problem,
        problem_code=judgement.problem_code,
        took_ms=judgement.duration_ms,
    )
    await current_env("writes").writes.commit(
        [
            settling(taken, tokens_in=used_in, tokens_out=judgement.tokens_out),
            telling_standing(standing),
            *keeping_judgement(report, judgement),
        ]
    )


def _no_verdict(judge: Judge, error: JudgeUnavailable) -> Judgement:
    return Judgement(
        model=judge.model, prompt_version=judge.prompt_version, problem=error.message, problem_code=error.code
    )


def _record(delivery: Delivery, digest: str, judgement: Judgement) -> JudgementRecord:
    return JudgementRecord(
        submission_id=delivery.submission.id,
        run=delivery.submission.run,
        judged_at=_now(),
        content_digest=digest,
        judgement=judgement,
    )


def _now() -> str:
    return iso_from_ms(current_env("clock").clock.now_ms())
