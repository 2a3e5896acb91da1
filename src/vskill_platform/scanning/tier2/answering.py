"""Reading the judge's answer. It is an answer or it is none: there is nothing to be guessed, mended or left out of it."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from vskill_platform.domain.errors import JudgeVoid
from vskill_platform.domain.judgement import FindingJudgement, verdict_for
from vskill_platform.domain.scan import Severity, Verdict
from vskill_platform.scanning.tier1.excerpts import show_invisible
from vskill_platform.scanning.tier2.prompt import Question

LONGEST_ANSWER = 64 * 1024
_SHOWN_CHARACTERS = 500
_ECHO_CHARACTERS = 10
"""So many signs of a secret word in a row are no chance."""
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)
_SIGNS_BETWEEN = re.compile(r"[^0-9a-z]")
_GRAVE = frozenset({Severity.HIGH, Severity.CRITICAL})

_Sentence = Annotated[str, Meta(min_length=1, max_length=4000)]


class _Word(StrEnum):
    CONFIRMED = "confirmed"
    FALSE_POSITIVE = "false_positive"


class _Said(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str
    judgement: _Word
    reason: _Sentence


class _Answer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    request_id: str
    verdict: Verdict
    score: Annotated[int, Meta(ge=0, le=100)]
    findings: Annotated[tuple[_Said, ...], Meta(max_length=200)]
    concerns: Annotated[tuple[_Sentence, ...], Meta(max_length=50)]


class Answer(NamedTuple):
    """A valid answer."""

    verdict: Verdict
    score: int
    findings: tuple[FindingJudgement, ...]
    concerns: tuple[str, ...]


def read_answer(text: str, question: Question) -> Answer:
    """What the judge answers to this question. Raises JudgeVoid where that is no answer to it."""
    _refuse_echo(text, question)
    answer = _decode(text)
    if answer.request_id != question.request:
        raise JudgeVoid("The judge's answer is void: it does not name the request that it was asked by.")
    _refuse_contradiction(answer)
    judged = _match_findings(answer, question)
    has_grave = any(said.is_confirmed and question.findings[name].severity in _GRAVE for name, said in judged.items())
    if answer.verdict is Verdict.PASS and has_grave:
        raise JudgeVoid("The judge's answer is void: it says PASS and confirms a grave finding.")
    is_explained = answer.concerns or any(said.is_confirmed for said in judged.values())
    if answer.verdict is not Verdict.PASS and not is_explained:
        raise JudgeVoid(f"The judge's answer is void: it says {answer.verdict.value} and does not say why.")
    concerns = tuple(_shown(concern) for concern in answer.concerns)
    return Answer(answer.verdict, answer.score, tuple(judged.values()), concerns)


def _refuse_echo(text: str, question: Question) -> None:
    """An answer with a word that must not be repeated, in any spelling, forwards or backwards, comes from the wrong master."""
    squeezed = _SIGNS_BETWEEN.sub("", text.casefold())
    for name, secret in (("canary", question.canary), ("boundary", question.boundary)):
        for form in (secret, secret[::-1]):
            windows = (form[at : at + _ECHO_CHARACTERS] for at in range(len(form) - _ECHO_CHARACTERS + 1))
            if any(window in squeezed for window in windows):
                raise JudgeVoid(f"The judge's answer is void: it repeats the {name}, which it was told to keep.")


def _decode(text: str) -> _Answer:
    if len(text) > LONGEST_ANSWER:
        raise JudgeVoid("The judge's answer is void: it is longer than any answer can be.")
    bare = _THOUGHTS.sub("", text)
    fenced = _FENCE.match(bare)
    try:
        body = (fenced[1] if fenced else bare).strip()
        answer = msgspec.json.decode(body, type=_Answer)
        json.loads(body, object_pairs_hook=_refuse_repeated)
    except (msgspec.MsgspecError, ValueError, RecursionError) as exc:
        raise JudgeVoid("The judge's answer is void: it is not the JSON that was asked for.") from exc
    return answer


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a field that is there twice")
    return dict(pairs)


def _refuse_contradiction(answer: _Answer) -> None:
    if verdict_for(answer.score) is not answer.verdict:
        raise JudgeVoid(
            f"The judge's answer is void: it says {answer.verdict.value} with {answer.score} of 100, which is a contradiction."
        )


def _match_findings(answer: _Answer, question: Question) -> dict[str, FindingJudgement]:
    """What is said of each finding that was asked about: of each once, and of no other."""
    named = [said.id for said in answer.findings]
    if len(set(named)) != len(named) or set(named) != set(question.findings):
        raise JudgeVoid("The judge's answer is void: it does not speak of each finding that it was given, once.")
    return {said.id: _judged(said, question) for said in answer.findings}


def _judged(said: _Said, question: Question) -> FindingJudgement:
    finding = question.findings[said.id]
    return FindingJudgement(
        rule_id=finding.rule_id,
        file=finding.file,
        line=finding.line,
        is_confirmed=said.judgement is _Word.CONFIRMED,
        reason=_shown(said.reason),
    )


def _shown(text: str) -> str:
    """A sentence of the model for people: on one line, with nothing invisible, and never long."""
    plain = show_invisible(" ".join(text.split()))
    return plain if len(plain) <= _SHOWN_CHARACTERS else f"{plain[: _SHOWN_CHARACTERS - 1]}…"
