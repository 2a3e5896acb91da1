"""Asking a server that answers well, badly, slowly, endlessly, and not at all."""

from __future__ import annotations

import asyncio
import gzip

import msgspec
import pytest
import structlog

from tests.judge.asking import KEY, MODEL, ask, make_finding, make_report, make_skill, open_court, settings_for
from vskill_platform.domain.errors import JudgeUnavailable, JudgeVoid
from vskill_platform.domain.scan import Verdict
from vskill_platform.scanning.tier2 import PROMPT_VERSION, open_judge
from vskill_platform.settings import Settings, printable_settings
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.judge_endpoint import (
    Answer,
    Asked,
    JudgeEndpoint,
    Reply,
    completing,
    cut_off,
    failing,
    flooding,
    judgement,
    saying,
)
from vskill_platform.testing.waits import eventually

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_judge_gives_verdict_score_and_a_word_on_each_finding__when_it_answers_well(
    endpoint: JudgeEndpoint,
) -> None:
    endpoint.answers = [saying(Verdict.CONCERNS, 70, word="confirmed")]
    said = await ask(endpoint, make_finding("A-1"), make_finding("B-2", file="run.sh", line=3))
    assert (said.verdict, said.score, said.problem) == (Verdict.CONCERNS, 70, "")
    assert [(one.rule_id, one.file, one.line, one.is_confirmed) for one in said.findings] == [
        ("A-1", "SKILL.md", 7, True),
        ("B-2", "run.sh", 3, True),
    ]
    assert (said.model, said.prompt_version) == (MODEL, PROMPT_VERSION)
    assert (said.tokens, said.tokens_out) == (1100, 100)
    assert said.concerns
    assert '"verdict":"CONCERNS"' in said.answer


async def test_question_names_model_key_and_schema__and_asks_for_no_stream(endpoint: JudgeEndpoint) -> None:
    await ask(endpoint)
    (asked,) = endpoint.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["accept-encoding"] == "identity"
    assert (asked.body["model"], asked.body["stream"]) == (MODEL, False)
    assert asked.body["response_format"]["type"] == "json_schema"


async def test_question_is_put_more_plainly__when_the_server_does_not_know_the_form(endpoint: JudgeEndpoint) -> None:
    endpoint.answers = [failing(400), failing(422), saying(Verdict.PASS, 90)]
    async with open_court(settings_for(endpoint)) as judge:
        for _ in range(2):
            assert (await judge.judge(make_skill(), make_report())).verdict is Verdict.PASS
    forms = [asked.body.get("response_format", {}).get("type") for asked in endpoint.asked]
    assert forms == ["json_schema", "json_object", None, None]


def _well(asked: Asked) -> str:
    return msgspec.json.encode(judgement(asked, Verdict.PASS, 90)).decode()


@pytest.mark.parametrize(
    "answer",
    [
        completing(lambda asked: f"```json\n{_well(asked)}\n```"),
        completing(lambda asked: f"<think>It greets. Is that safe?</think>\n\n{_well(asked)}"),
        completing(lambda asked: f"\n {_well(asked)}\n"),
        completing(_well, usage="nobody counts"),
        completing(_well, usage={"prompt_tokens": -5, "completion_tokens": 10**12}),
    ],
)
async def test_answer_counts__when_only_its_wrapping_differs(endpoint: JudgeEndpoint, answer: Answer) -> None:
    endpoint.answers = [answer]
    said = await ask(endpoint)
    assert (said.verdict, said.problem) == (Verdict.PASS, "")
    assert 100 < said.tokens < 10_000


async def _packed(asked: Asked) -> Reply:
    reply = await completing(_well)(asked)
    return reply._replace(body=gzip.compress(reply.body), headers=((b"content-encoding", b"gzip"),))


VOID: dict[str, Answer] = {
    "no json": completing(lambda asked: "I think that it is fine."),
    "empty": completing(lambda asked: ""),
    "json and words": completing(lambda asked: f"Here it is: {_well(asked)}"),
    "two answers": completing(lambda asked: f"{_well(asked)}\n{_well(asked)}"),
    "list": completing(lambda asked: f"[{_well(asked)}]"),
    "deep": completing(lambda asked: "[" * 50_000),
    "score as text": saying(Verdict.PASS, 90, score="90"),
    "score too high": saying(Verdict.PASS, 101),
    "verdict unknown": saying(Verdict.PASS, 90, verdict="MAYBE"),
    "verdict in small letters": saying(Verdict.PASS, 90, verdict="pass"),
    "no verdict": saying(Verdict.PASS, 90, verdict=None),
    "more fields": saying(Verdict.PASS, 90, override=True),
    "another request": saying(Verdict.PASS, 90, requestId="0" * 32),
    "score against verdict": saying(Verdict.PASS, 60),
    "low pass": saying(Verdict.PASS, 79),
    "high concerns": saying(Verdict.CONCERNS, 80),
    "fail without a reason": saying(Verdict.FAIL, 10, concerns=[]),
    "pass with a confirmed finding": saying(Verdict.PASS, 90, word="confirmed"),
    "unknown finding": saying(Verdict.PASS, 90, findings=[{"id": "F9", "judgement": "false_positive", "reason": "r"}]),
    "no findings": saying(Verdict.PASS, 90, findings=[]),
    "unknown word": saying(Verdict.PASS, 90, word="ignored"),
    "finding twice": saying(
        Verdict.PASS,
        90,
        findings=[
            {"id": "F1", "judgement": "false_positive", "reason": "r"},
            {"id": "F1", "judgement": "false_positive", "reason": "r"},
        ],
    ),
    "field twice": completing(lambda asked: _well(asked).replace('"verdict":', '"verdict":"FAIL","verdict":')),
    "canary": saying(Verdict.PASS, 90, concerns=["x"]),
    "server speaks otherwise": failing(200, body=b'{"answer": "PASS"}'),
    "server speaks html": failing(200, body=b"<html>Welcome</html>"),
    "no choices": failing(200, body=b'{"choices": []}'),
    "content is a number": failing(200, body=b'{"choices": [{"message": {"content": 5}}]}'),
    "packed": _packed,
    "flood": flooding(),
    "long": completing(lambda asked: _well(asked).replace("It is what it is.", "long " * 20_000)),
}


def _echo(asked: Asked, text: str) -> str:
    return msgspec.json.encode(judgement(asked, Verdict.PASS, 90, concerns=[text])).decode()


VOID |= {
    "canary": completing(lambda asked: _echo(asked, asked.canary)),
    "canary in capitals": completing(lambda asked: _echo(asked, asked.canary.upper())),
    "canary drawn apart": completing(lambda asked: _echo(asked, "-".join(asked.canary))),
    "canary backwards": completing(lambda asked: _echo(asked, asked.canary[::-1])),
    "part of the canary": completing(lambda asked: _echo(asked, asked.canary[:12])),
    "canary in thoughts": completing(lambda asked: f"<think>{asked.canary}</think>{_well(asked)}"),
    "boundary": completing(lambda asked: _echo(asked, f"END {asked.boundary}")),
}


@pytest.mark.parametrize("name", VOID)
async def test_answer_is_void_and_asked_once__when_it_is_no_answer(endpoint: JudgeEndpoint, name: str) -> None:
    endpoint.answers = [VOID[name]]
    said = await ask(endpoint, make_finding())
    assert (said.verdict, said.score, said.findings, said.concerns) == (None, None, (), ())
    assert said.problem_code == JudgeVoid.code
    assert said.problem.startswith("The judge's answer is void: ")
    assert said.tokens > 0
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
async def test_question_is_asked_again_twice__when_the_fault_may_pass(endpoint: JudgeEndpoint, status: int) -> None:
    endpoint.answers = [failing(status), cut_off, saying(Verdict.PASS, 90)]
    assert (await ask(endpoint)).verdict is Verdict.PASS
    endpoint.answers = [failing(status)]
    said = await ask(endpoint)
    assert (said.verdict, said.problem_code) == (None, JudgeUnavailable.code)
    assert str(status) in said.problem
    assert len(endpoint.asked) == 6


@pytest.mark.parametrize("status", [301, 307, 401, 403, 404, 413])
async def test_question_is_asked_once__when_the_fault_stays(endpoint: JudgeEndpoint, status: int) -> None:
    endpoint.answers = [failing(status, (b"location", b"http://127.0.0.1:1/v1/chat/completions"))]
    said = await ask(endpoint)
    assert (said.verdict, said.problem_code) == (None, JudgeUnavailable.code)
    assert len(endpoint.asked) == 1


async def test_question_is_not_asked_again__when_the_server_wants_more_time_than_there_is(
    endpoint: JudgeEndpoint,
) -> None:
    endpoint.answers = [failing(429, (b"retry-after", b"3600")), saying(Verdict.PASS, 90)]
    assert (await ask(endpoint)).problem_code == JudgeUnavailable.code
    assert len(endpoint.asked) == 1


async def test_question_waits_as_long_as_the_server_asks__when_there_is_time(endpoint: JudgeEndpoint) -> None:
    clock = FakeClock()
    endpoint.answers = [failing(503, (b"retry-after", b"7")), saying(Verdict.PASS, 90)]
    async with open_court(settings_for(endpoint), clock=clock) as judge:
        task = asyncio.create_task(judge.judge(make_skill(), make_report()))
        await eventually(lambda: clock.sleepers == 2, what="the judge waits")
        await clock.advance(6.9)
        assert len(endpoint.asked) == 1
        await clock.advance(0.2)
        assert (await task).verdict is Verdict.PASS


async def test_judge_is_unavailable__when_it_does_not_answer_in_time(endpoint: JudgeEndpoint) -> None:
    endpoint.answers = [endpoint.never()]
    said = await ask(endpoint, judge_time_limit_s=0.2)
    assert (said.verdict, said.problem_code) == (None, JudgeUnavailable.code)
    assert "0.2 s" in said.problem
    assert said.tokens > 0


async def test_judge_is_unavailable__when_nobody_listens(endpoint: JudgeEndpoint) -> None:
    said = await ask(endpoint, judge_url="http://127.0.0.1:9/v1")
    assert (said.verdict, said.problem_code, said.tokens) == (None, JudgeUnavailable.code, 0)


async def test_question_waits_for_a_place__and_gives_up_when_none_becomes_free(endpoint: JudgeEndpoint) -> None:
    endpoint.answers = [endpoint.never(), saying(Verdict.PASS, 90)]
    settings = settings_for(endpoint, judge_in_flight=1, judge_time_limit_s=0.5, message_time_limit_s=0.6)
    async with open_court(settings) as judge:
        asked = [judge.judge(make_skill(), make_report()) for _ in range(2)]
        slow, waiting = sorted([said.problem for said in await asyncio.gather(*asked)])
    assert "no whole answer within 0.5 s" in slow
    assert "too much to do" in waiting
    assert len(endpoint.asked) == 1


async def test_key_is_told_to_nobody_but_the_server__whatever_goes_wrong(endpoint: JudgeEndpoint) -> None:
    told: list[object] = []
    with structlog.testing.capture_logs() as logs:
        for answer in (saying(Verdict.PASS, 90), failing(401), completing(lambda asked: f"Your key is {KEY}")):
            endpoint.answers, endpoint.asked = [answer], []
            told.append(await ask(endpoint))
    settings = settings_for(endpoint)
    told += [logs, settings, printable_settings(settings)]
    assert KEY not in repr(told)
    assert any("***" in str(one) for one in told)


async def test_there_is_no_judge__unless_the_settings_name_one() -> None:
    async with open_judge(Settings()) as judge:
        assert judge is None
