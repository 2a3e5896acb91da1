"""The words of tier 2: what the judge says of a skill, and of what tier 1 found in it."""

from __future__ import annotations

import msgspec

from vskill_platform.domain.scan import Verdict

PASS_FROM = 80
CONCERNS_FROM = 60
MAX_ANSWER_TOKENS = 8192
_BYTES_PER_TOKEN = 3
"""What a token is taken to have, on average, where nobody has counted; in most texts it has more."""


class FindingJudgement(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the judge makes of one finding of tier 1: confirmed, or a false positive, and why."""

    rule_id: str
    file: str
    line: int
    is_confirmed: bool
    reason: str


class Judgement(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The judge's whole answer, with what it takes to ask the same again.

    Where the judge gave no valid answer `verdict` is None, `problem_code` says in a word why (`judge_unavailable` or
    `judge_void`) and `problem` in a sentence: a person decides. `left_out` names what the judge was not shown, and
    `addressed` the places where the skill speaks to whoever judges it; with either, a PASS counts as CONCERNS. `tokens` has
    both ways, `tokens_out` those of the answer alone.
    """

    model: str
    prompt_version: str
    verdict: Verdict | None = None
    score: int | None = None
    findings: tuple[FindingJudgement, ...] = ()
    concerns: tuple[str, ...] = ()
    problem: str = ""
    problem_code: str = ""
    left_out: tuple[str, ...] = ()
    addressed: tuple[str, ...] = ()
    answer: str = ""
    tokens: int = 0
    tokens_out: int = 0
    duration_ms: float = 0.0
    is_from_cache: bool = False

    @property
    def counted_verdict(self) -> Verdict | None:
        """The verdict as far as it counts: who was not shown everything, or was spoken to, lets nothing pass."""
        is_doubtful = bool(self.left_out or self.addressed)
        return Verdict.CONCERNS if self.verdict is Verdict.PASS and is_doubtful else self.verdict


def verdict_for(score: int) -> Verdict:
    """The one verdict that goes with a judge's score."""
    if score >= PASS_FROM:
        return Verdict.PASS
    return Verdict.CONCERNS if score >= CONCERNS_FROM else Verdict.FAIL


def estimate_tokens(size: int) -> int:
    """How many tokens so many bytes come to."""
    return -(-size // _BYTES_PER_TOKEN)
