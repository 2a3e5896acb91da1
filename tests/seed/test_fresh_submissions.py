"""TC-050: reading submissions by their ids, all at once."""

from __future__ import annotations

from functools import partial

from tests.seed.planting import BackwardsProbe, store_raw_submissions, store_stuck
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.submissions import get_submissions_fresh
from vskill_platform.testing.probe import PlainProbe
from vskill_platform.worker_context import run_with_worker_env

SIX = ["sub_d", "sub_a", "sub_f", "sub_b", "sub_e", "sub_c"]


async def test_tc_050__six_ids_are_six_gets_in_flight(engine: Engine, env_with: partial[WorkerEnv]) -> None:
    await store_stuck(engine, SIX)
    probe = PlainProbe(engine, hold_until=6)

    await run_with_worker_env(env_with(kv=probe), lambda: get_submissions_fresh(SIX))

    assert probe.max_in_flight == 6
    assert sorted(probe.keys_read) == sorted(f"sub:{identity}" for identity in SIX)


async def test_tc_050__the_order_of_the_ids_is_kept__when_the_last_is_answered_first(
    engine: Engine, env_with: partial[WorkerEnv]
) -> None:
    await store_stuck(engine, SIX)
    keys = [f"sub:{identity}" for identity in SIX]
    probe = BackwardsProbe(engine, keys=keys)

    fresh = await run_with_worker_env(env_with(kv=probe), lambda: get_submissions_fresh(SIX))

    assert probe.answers == keys[::-1]
    assert [submission.id for submission in fresh] == SIX


async def test_tc_050__the_order_of_the_ids_is_kept__by_either_path(engine: Engine, env: WorkerEnv) -> None:
    await store_stuck(engine, SIX)

    fresh = await run_with_worker_env(env, lambda: get_submissions_fresh([*SIX, SIX[0]]))

    assert [submission.id for submission in fresh] == [*SIX, SIX[0]]


async def test_tc_050__ids_that_fail_are_left_out_and_counted(engine: Engine, env_with: partial[WorkerEnv]) -> None:
    await store_stuck(engine, SIX)
    await store_raw_submissions(engine, {"sub_bad": b"{"})
    probe = PlainProbe(engine, hold_until=8, fail_on=lambda key: key in ("sub:sub_a", "sub:sub_c"))
    asked = ["sub_nowhere", *SIX, "sub_bad"]

    fresh = await run_with_worker_env(env_with(kv=probe), lambda: get_submissions_fresh(asked))

    assert [submission.id for submission in fresh] == ["sub_d", "sub_f", "sub_b", "sub_e"]
    assert (fresh.missing, fresh.malformed, fresh.failed) == (1, 1, 2)


async def test_tc_050__no_ids_are_no_reads(engine: Engine, env_with: partial[WorkerEnv]) -> None:
    probe = PlainProbe(engine)

    fresh = await run_with_worker_env(env_with(kv=probe), lambda: get_submissions_fresh([]))

    assert fresh == []
    assert probe.keys_read == []
