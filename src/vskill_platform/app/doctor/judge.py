"""The doctor's look at tier 2: the judge is asked about a small skill, and its answer has to be one."""

from __future__ import annotations

import msgspec

from vskill_platform import __version__
from vskill_platform.app.doctor.finding import Finding, broken, doubtful, well
from vskill_platform.app.doctor.machine import SAMPLE
from vskill_platform.domain.content import content_digest
from vskill_platform.domain.errors import JudgeUnavailable
from vskill_platform.domain.scan import ScanReport, Verdict
from vskill_platform.scanning.tier2 import open_judge
from vskill_platform.settings import Settings

LIMIT_S = 45.0


async def look_at_judge(settings: Settings) -> list[Finding]:
    """The judge that the settings name answers, and as it is asked to. It costs one short question."""
    hurried = msgspec.structs.replace(settings, judge_time_limit_s=min(settings.judge_time_limit_s, LIMIT_S))
    async with open_judge(hurried) as judge:
        if judge is None:
            return [well("judge", "There is none: tier 1 decides alone.")]
        said = await judge.judge(SAMPLE, _report())
    if said.verdict is not None:
        detail = f"{said.model} answered in {said.duration_ms:.0f} ms with {said.tokens} tokens: {said.verdict.value}."
        return [well("judge", detail)]
    if said.problem_code == JudgeUnavailable.code:
        advice = (
            "Until it answers, a person decides about every submission. Mend VSKILL_PLATFORM_JUDGE_URL, or empty it."
        )
        return [broken("judge", said.problem, advice=advice)]
    return [doubtful("judge", said.problem, advice="Take a model that answers in the form that it is asked for.")]


def _report() -> ScanReport:
    return ScanReport(
        name="doctor",
        verdict=Verdict.PASS,
        score=100,
        flagged=False,
        content_digest=content_digest(SAMPLE),
        ruleset_version="",
        scanner_version=__version__,
    )
