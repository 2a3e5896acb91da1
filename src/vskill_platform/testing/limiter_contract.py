"""What every engine's rate limiter must do: the sentences of `ports.limiter` as tests, to be inherited.

The module that inherits `LimiterContract` provides `clock`, a FakeClock, and `engine`, an engine that was opened with it,
fresh for each test. Moments and windows are whole milliseconds, so that "exactly" can be said.
"""

from __future__ import annotations

import asyncio
import itertools
from bisect import bisect_right

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vskill_platform.domain.errors import EngineClosed, InvalidInput
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.limiter import Taken
from vskill_platform.testing.clock import FakeClock

WINDOW_S = 60.0
VERY_MANY = 5_000
_fresh_keys = itertools.count()


async def take(engine: Engine, *, key: str = "key", limit: int = 3, window_s: float = WINDOW_S) -> Taken:
    """Take one."""
    return await engine.limiter.take(key, limit=limit, window_s=window_s)


async def take_all(engine: Engine, *, key: str = "key", limit: int = 3) -> None:
    """Take as many as are allowed."""
    for _ in range(limit):
        assert (await take(engine, key=key, limit=limit)).allowed


def expected_take(moments_ms: list[int], *, now_ms: int, limit: int, window_ms: int) -> Taken:
    """What a take must answer after those that were allowed before, by the plain reading of the contract."""
    counted = moments_ms[bisect_right(moments_ms, now_ms - window_ms) :]
    allowed = len(counted) < limit
    if allowed:
        counted = [*counted, now_ms]
    remaining = max(limit - len(counted), 0)
    retry_after_s = 0.0 if remaining else (counted[-limit] + window_ms - now_ms) / 1000
    return Taken(allowed, remaining, retry_after_s)


class LimiterContract:
    """The whole contract of `ports.limiter.Limiter`."""

    async def test_take_is_allowed_up_to_the_limit__and_then_refused(self, engine: Engine) -> None:
        answers = [await take(engine, limit=3) for _ in range(5)]
        assert [answer.allowed for answer in answers] == [True, True, True, False, False]

    async def test_take_says_how_many_are_left__after_itself(self, engine: Engine) -> None:
        answers = [await take(engine, limit=3) for _ in range(5)]
        assert [answer.remaining for answer in answers] == [2, 1, 0, 0, 0]

    async def test_take_says_when_one_more_is_allowed__to_the_millisecond(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        assert (await take(engine, limit=2)).retry_after_s == 0.0
        await clock.advance(10)
        assert (await take(engine, limit=2)).retry_after_s == 50.0
        await clock.advance(5)
        refused = await take(engine, limit=2)
        assert (refused.allowed, refused.retry_after_s) == (False, 45.0)
        clock.shift(44.999)
        assert not (await take(engine, limit=2)).allowed
        clock.shift(0.001)
        assert (await take(engine, limit=2)).allowed

    async def test_take_is_allowed_one_by_one__as_earlier_takes_leave_the_window(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        for _ in range(3):
            assert (await take(engine, limit=3)).allowed
            await clock.advance(10)
        await clock.advance(30)
        answers = [await take(engine, limit=3) for _ in range(2)]
        assert [answer.allowed for answer in answers] == [True, False]
        assert answers[1].retry_after_s == 10.0

    async def test_window_slides__and_does_not_begin_anew(self, engine: Engine, clock: FakeClock) -> None:
        await clock.advance(59)
        await take_all(engine, limit=3)
        await clock.advance(2)
        assert not (await take(engine, limit=3)).allowed

    async def test_refused_take_costs_nothing__however_often(self, engine: Engine, clock: FakeClock) -> None:
        await take_all(engine, limit=3)
        for _ in range(59):
            await clock.advance(1)
            assert not (await take(engine, limit=3)).allowed
        await clock.advance(1)
        await take_all(engine, limit=3)

    async def test_parallel_takes_allow_exactly_the_limit__of_a_hundred(self, engine: Engine) -> None:
        answers = await asyncio.gather(*(take(engine, limit=10) for _ in range(100)))
        assert sum(answer.allowed for answer in answers) == 10
        assert sorted(answer.remaining for answer in answers if answer.allowed) == list(range(10))

    async def test_keys_are_independent__of_each_other(self, engine: Engine) -> None:
        await take_all(engine, key="a", limit=3)
        assert not (await take(engine, key="a", limit=3)).allowed
        assert (await take(engine, key="b", limit=3)) == Taken(True, 2, 0.0)
        assert (await take(engine, key="", limit=3)).allowed

    async def test_key_is_remembered__among_very_many(self, engine: Engine) -> None:
        await take_all(engine, key="a", limit=3)
        await asyncio.gather(*(take(engine, key=f"other-{number}", limit=1) for number in range(VERY_MANY)))
        assert not (await take(engine, key="a", limit=3)).allowed

    async def test_key_is_exact__after_very_many_have_come_and_gone(self, engine: Engine, clock: FakeClock) -> None:
        await take(engine, key="a", limit=2)
        await clock.advance(WINDOW_S - 1)
        await take(engine, key="a", limit=2)
        await clock.advance(1)
        await asyncio.gather(*(take(engine, key=f"other-{number}", limit=1) for number in range(VERY_MANY)))
        answers = [await take(engine, key="a", limit=2) for _ in range(2)]
        assert [answer.allowed for answer in answers] == [True, False]

    async def test_lower_limit_counts_what_was_taken__under_the_higher_one(
        self, engine: Engine, clock: FakeClock
    ) -> None:
        for _ in range(4):
            await take(engine, limit=4)
            await clock.advance(10)
        assert await take(engine, limit=2) == Taken(False, 0, 40.0)
        clock.shift(39.999)
        assert not (await take(engine, limit=2)).allowed
        clock.shift(0.001)
        assert (await take(engine, limit=2)).allowed

    async def test_higher_limit_counts_what_was_taken__under_the_lower_one(self, engine: Engine) -> None:
        await take_all(engine, limit=2)
        answers = [await take(engine, limit=3) for _ in range(2)]
        assert [answer.allowed for answer in answers] == [True, False]

    async def test_window_may_be_a_part_of_a_second__or_a_year(self, engine: Engine, clock: FakeClock) -> None:
        assert (await take(engine, key="short", limit=1, window_s=0.25)).retry_after_s == 0.25
        assert (await take(engine, key="long", limit=1, window_s=31_536_000.0)).retry_after_s == 31_536_000.0
        await clock.advance(0.25)
        assert (await take(engine, key="short", limit=1, window_s=0.25)).allowed
        assert not (await take(engine, key="long", limit=1, window_s=31_536_000.0)).allowed

    @pytest.mark.parametrize("limit", [0, -1])
    async def test_take_refuses__a_limit_that_is_not_positive(self, engine: Engine, limit: int) -> None:
        with pytest.raises(InvalidInput):
            await take(engine, limit=limit)

    @pytest.mark.parametrize("window_s", [0.0, -1.0, float("nan")])
    async def test_take_refuses__a_window_that_is_not_positive(self, engine: Engine, window_s: float) -> None:
        with pytest.raises(InvalidInput):
            await take(engine, window_s=window_s)

    async def test_bad_take_costs_nothing__of_the_good_ones(self, engine: Engine) -> None:
        for limit, window_s in ((0, WINDOW_S), (3, 0.0)):
            with pytest.raises(InvalidInput):
                await take(engine, limit=limit, window_s=window_s)
        assert (await take(engine, limit=3)).remaining == 2

    async def test_take_is_refused__after_the_engine_was_closed(self, engine: Engine) -> None:
        await engine.close()
        with pytest.raises(EngineClosed):
            await take(engine)

    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(
        limit=st.integers(min_value=1, max_value=5),
        window_ms=st.integers(min_value=1, max_value=50),
        pauses_ms=st.lists(st.integers(min_value=0, max_value=25), max_size=60),
    )
    async def test_take_agrees_with_the_plain_model__in_any_run_of_takes(
        self, engine: Engine, clock: FakeClock, limit: int, window_ms: int, pauses_ms: list[int]
    ) -> None:
        key = f"key-{next(_fresh_keys)}"
        allowed_ms: list[int] = []
        for pause_ms in pauses_ms:
            clock.shift(pause_ms / 1000)
            now_ms = clock.now_ms()
            answer = await take(engine, key=key, limit=limit, window_s=window_ms / 1000)
            expected = expected_take(allowed_ms, now_ms=now_ms, limit=limit, window_ms=window_ms)
            assert (answer.allowed, answer.remaining) == (expected.allowed, expected.remaining)
            assert answer.retry_after_s == pytest.approx(expected.retry_after_s, abs=1e-6)
            if answer.allowed:
                allowed_ms.append(now_ms)
