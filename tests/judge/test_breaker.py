"""A judge that keeps failing is left alone, then tried once."""

from __future__ import annotations

import asyncio

import pytest

from tests.judge.asking import make_report, make_skill, open_court, settings_for
from vskill_platform.domain.errors import JudgeUnavailable
from vskill_platform.domain.scan import Verdict
from vskill_platform.metrics import JUDGE_BREAKER
from vskill_platform.scanning.tier2.breaker import OPEN_S, Breaker
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.judge_endpoint import JudgeEndpoint, completing, failing, saying

pytestmark = pytest.mark.asyncio(loop_scope="package")


def fail(breaker: Breaker) -> None:
    with pytest.raises(JudgeUnavailable, match="down"), breaker.guarding():
        raise JudgeUnavailable("down")


def succeed(breaker: Breaker) -> None:
    with breaker.guarding():
        pass


async def test_breaker_opens__only_after_failures_in_a_row() -> None:
    breaker = Breaker(FakeClock(), failures=3)
    for step in (fail, fail, succeed, fail, fail):
        step(breaker)
    assert not breaker.is_open
    fail(breaker)
    assert breaker.is_open
    with pytest.raises(JudgeUnavailable, match="3 times in a row"), breaker.guarding():
        raise AssertionError("was let in")


async def test_breaker_lets_one_caller_try__when_it_was_open_for_a_while() -> None:
    clock = FakeClock()
    breaker = Breaker(clock, failures=1, open_s=30)
    fail(breaker)
    clock.shift(29.9)
    with pytest.raises(JudgeUnavailable, match="left alone"):
        succeed(breaker)
    clock.shift(0.2)
    with breaker.guarding(), pytest.raises(JudgeUnavailable, match="left alone"):
        succeed(breaker)
    assert not breaker.is_open
    succeed(breaker)


async def test_breaker_stays_open_for_as_long_again__when_the_trial_fails() -> None:
    clock = FakeClock()
    breaker = Breaker(clock, failures=1, open_s=30)
    fail(breaker)
    clock.shift(31)
    fail(breaker)
    clock.shift(29)
    with pytest.raises(JudgeUnavailable, match="left alone"):
        succeed(breaker)
    clock.shift(2)
    succeed(breaker)
    assert not breaker.is_open


async def test_breaker_lets_the_next_one_try__when_the_trial_was_cancelled() -> None:
    clock = FakeClock()
    breaker = Breaker(clock, failures=1)
    fail(breaker)
    clock.shift(OPEN_S + 1)
    with pytest.raises(asyncio.CancelledError), breaker.guarding():
        raise asyncio.CancelledError
    assert breaker.is_open
    succeed(breaker)
    assert not breaker.is_open


async def test_judge_is_not_asked__while_the_breaker_is_open(endpoint: JudgeEndpoint) -> None:
    clock = FakeClock()
    endpoint.answers = [failing(401)]
    async with open_court(settings_for(endpoint), clock=clock, failures=2) as judge:
        said = [await judge.judge(make_skill(), make_report()) for _ in range(4)]
        assert [one.problem_code for one in said] == [JudgeUnavailable.code] * 4
        assert len(endpoint.asked) == 2
        assert JUDGE_BREAKER._value.get() == 1
        endpoint.answers = [saying(Verdict.PASS, 90)]
        clock.shift(OPEN_S + 1)
        assert (await judge.judge(make_skill(), make_report())).verdict is Verdict.PASS
        assert JUDGE_BREAKER._value.get() == 0


async def test_breaker_stays_closed__when_answers_are_void(endpoint: JudgeEndpoint) -> None:
    endpoint.answers = [completing(lambda asked: "nonsense")]
    async with open_court(settings_for(endpoint), failures=2) as judge:
        for _ in range(3):
            await judge.judge(make_skill(), make_report())
        assert not judge.breaker.is_open
    assert len(endpoint.asked) == 3
