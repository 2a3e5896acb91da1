"""The words of tier 2: what the judge says of a skill, and of what tier 1 found in it."""

from __future__ import annotations

import msgspec

from vskill_platform.domain.scan import Verdict


class FindingJudgement(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the judge makes of one finding of tier 1: confirmed, or a false positive, and why."""

    rule_id: str
    file: str
    line: int
    is_confirmed: bool
    reason: str


class Judgement(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The judge's whole answer, with what it takes to ask the same again.

    Where the judge gave no valid answer `verdict` is None, and `problem` says in one sentence why: a person decides.
    """

    model: str
    prompt_version: str
    verdict: Verdict | None = None
    score: int | None = None
    findings: tuple[FindingJudgement, ...] = ()
    concerns: tuple[str, ...] = ()
    problem: str = ""
    answer: str = ""
    tokens: int = 0
    duration_ms: float = 0.0
    is_from_cache: bool = False
