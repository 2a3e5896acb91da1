"""The limits of a day hold across processes: several connections of their own to one database ask at once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from vskill_platform.engines.postgres import open_postgres
from vskill_platform.ports.clock import SystemClock
from vskill_platform.settings import convert_settings
from vskill_platform.stores.judge_spending import Spending, Taken, cost_of, exceeds, get_spending, take_tokens
from vskill_platform.testing.envs import make_env
from vskill_platform.worker_context import run_with_worker_env

ENGINES, TAKES = 3, 8


async def test_limit_is_never_passed__by_engines_that_share_a_database(postgres_url: str, tmp_path: Path) -> None:
    engines = [await open_postgres(postgres_url) for _ in range(ENGINES)]
    envs = [make_env(engine, clock=SystemClock(), folder=tmp_path, judge_tokens_per_day=1000) for engine in engines]

    async def take_some() -> list[Taken | None]:
        return list(await asyncio.gather(*(take_tokens(tokens_in=90, tokens_out=10) for _ in range(TAKES))))

    try:
        answers = await asyncio.gather(*(run_with_worker_env(env, take_some) for env in envs))
        taken = [one for some in answers for one in some if one is not None]
        spent = await run_with_worker_env(envs[0], get_spending)
    finally:
        for engine in engines:
            await engine.close()
    assert len(taken) <= 10
    assert spent == Spending(questions=len(taken), tokens_in=90 * len(taken), tokens_out=10 * len(taken))


@pytest.mark.parametrize(
    ("given", "is_over"),
    [
        ({}, False),
        ({"judge_tokens_per_day": 0}, False),
        ({"judge_tokens_per_day": 1_500_000}, False),
        ({"judge_tokens_per_day": 1_499_999}, True),
        ({"judge_tokens_per_day": 0, "judge_cost_per_day": 5.99}, True),
        ({"judge_tokens_per_day": 0, "judge_cost_per_day": 6.0}, False),
    ],
)
def test_day_is_over__only_beyond_a_limit_that_is_set(given: dict[str, object], is_over: bool) -> None:
    settings = convert_settings({"judge_input_price": 2.0, "judge_output_price": 8.0, **given})
    spending = Spending(questions=1, tokens_in=1_000_000, tokens_out=500_000)
    assert cost_of(spending, settings) == pytest.approx(6.0)
    assert exceeds(spending, settings) is is_over
