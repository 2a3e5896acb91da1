"""The judge: a model behind an OpenAI-compatible server that reads a skill and what tier 1 found in it.

Whatever goes wrong is a judgement without a verdict. Nothing here decides what becomes of a skill.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter

import msgspec
import structlog

from vskill_platform import metrics
from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.errors import JudgeUnavailable, JudgeVoid
from vskill_platform.domain.judgement import Judgement, estimate_tokens
from vskill_platform.domain.scan import ScanReport
from vskill_platform.ports.clock import Clock, SystemClock
from vskill_platform.scanning.tier1.excerpts import show_invisible
from vskill_platform.scanning.tier2.addressing import places_addressed
from vskill_platform.scanning.tier2.answering import LONGEST_ANSWER, read_answer
from vskill_platform.scanning.tier2.breaker import Breaker
from vskill_platform.scanning.tier2.client import ChatClient, Spoken
from vskill_platform.scanning.tier2.prompt import PROMPT_VERSION, Question, make_question
from vskill_platform.settings import Settings

_log = structlog.get_logger(__name__)


class ModelJudge:
    """Asks one model, a few questions at a time, and leaves it alone while it keeps failing."""

    def __init__(self, settings: Settings, client: ChatClient, breaker: Breaker, *, clock: Clock) -> None:
        self._settings = settings
        self._client = client
        self._clock = clock
        self._places = asyncio.Semaphore(settings.judge_in_flight)
        self.breaker = breaker

    @property
    def model(self) -> str:
        """The name of the model that is asked."""
        return self._settings.judge_model

    @property
    def prompt_version(self) -> str:
        """What stands for the exact words that the model is asked with."""
        return PROMPT_VERSION

    async def judge(self, content: SkillContent, report: ScanReport) -> Judgement:
        """What the model says of the skill, if its answer is one."""
        started = perf_counter()
        question, addressed = await asyncio.to_thread(self._prepare, content, report)
        fresh = Judgement(
            model=self.model, prompt_version=PROMPT_VERSION, left_out=question.left_out, addressed=addressed
        )
        said = await self._ask(question, fresh)
        judgement = msgspec.structs.replace(said, duration_ms=round((perf_counter() - started) * 1000, 1))
        _tell(judgement)
        return judgement

    def _prepare(self, content: SkillContent, report: ScanReport) -> tuple[Question, tuple[str, ...]]:
        limit_bytes = self._settings.judge_max_input_bytes
        return make_question(content, report, limit_bytes=limit_bytes), places_addressed(
            content, limit_bytes=limit_bytes
        )

    async def _ask(self, question: Question, fresh: Judgement) -> Judgement:
        try:
            async with self._place():
                with self.breaker.guarding():
                    spoken = await self._client.ask(question)
        except JudgeUnavailable as error:
            # Who was too slow to answer has read the question all the same.
            spent = estimate_tokens(question.size) if error.fields.get("was_slow") else 0
            return msgspec.structs.replace(fresh, problem=error.message, problem_code=error.code, tokens=spent)
        except JudgeVoid as error:
            spent = estimate_tokens(question.size)
            return msgspec.structs.replace(fresh, problem=error.message, problem_code=error.code, tokens=spent)
        return _judged(spoken, question, fresh)

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        """One of the questions that may be open. Waiting takes part of the time that the message has left."""
        wait_s = (self._settings.message_time_limit_s - self._settings.judge_time_limit_s) / 2
        try:
            async with self._clock.timeout(wait_s):
                await self._places.acquire()
        except TimeoutError as exc:
            raise JudgeUnavailable(
                "The judge has too much to do: no question was answered in time for this one."
            ) from exc
        try:
            yield
        finally:
            self._places.release()


@asynccontextmanager
async def open_judge(settings: Settings, *, clock: Clock | None = None) -> AsyncIterator[ModelJudge | None]:
    """The judge that the settings name, closed at the end; None where they name none."""
    if not settings.judge_url:
        yield None
        return
    clock = clock or SystemClock()
    client = ChatClient(settings, clock=clock)
    try:
        yield ModelJudge(settings, client, Breaker(clock), clock=clock)
    finally:
        await client.close()


def _judged(spoken: Spoken, question: Question, fresh: Judgement) -> Judgement:
    told = msgspec.structs.replace(
        fresh,
        answer=_kept(spoken.text),
        tokens=spoken.tokens_in + spoken.tokens_out,
        tokens_out=spoken.tokens_out,
    )
    try:
        answer = read_answer(spoken.text, question)
    except JudgeVoid as error:
        return msgspec.structs.replace(told, problem=error.message, problem_code=error.code)
    return msgspec.structs.replace(
        told, verdict=answer.verdict, score=answer.score, findings=answer.findings, concerns=answer.concerns
    )


def _kept(text: str) -> str:
    """The answer as it is kept: whole, unless it is longer than an answer can be, and with nothing invisible in it."""
    return "\n".join(show_invisible(line) for line in text[:LONGEST_ANSWER].split("\n"))


def _tell(judgement: Judgement) -> None:
    metrics.JUDGE_SECONDS.observe(judgement.duration_ms / 1000)
    metrics.JUDGE_TOKENS.labels("in").inc(judgement.tokens - judgement.tokens_out)
    metrics.JUDGE_TOKENS.labels("out").inc(judgement.tokens_out)
    _log.info(
        "judge_asked",
        model=judgement.model,
        verdict=judgement.verdict,
        score=judgement.score,
        problem=judgement.problem or None,
        tokens=judgement.tokens,
        took_ms=judgement.duration_ms,
    )
