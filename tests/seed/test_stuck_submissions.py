"""US-001 of both documents, TC-056 and TC-070 to TC-072: finding stuck submissions."""

from __future__ import annotations

from functools import partial

import msgspec
import pytest

from tests.seed.planting import (
    MALFORMED_SUBMISSIONS,
    GatedProbe,
    UnlistableProbe,
    VanishingProbe,
    count_in_flight,
    store_raw_submissions,
    store_stuck,
)
from vskill_platform.domain.recovery import STUCK_THRESHOLD_MS
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.records import encode_record
from vskill_platform.stores.submissions import get_stuck_submissions
from vskill_platform.testing.clock import START_MS, FakeClock
from vskill_platform.testing.probe import PlainProbe
from vskill_platform.testing.submissions import putting_submission, submission_at
from vskill_platform.worker_context import run_with_worker_env

FIVE_MINUTES_MS = 300_000
CAN_BE_STUCK = {"RECEIVED", "TIER1_SCANNING", "TIER2_SCANNING", "AUTO_APPROVED", "VENDOR_APPROVED"}
FIVE = ["sub_a", "sub_b", "sub_c", "sub_d", "sub_e"]


async def test_tc_056__stuck_submissions_are_read_more_than_one_at_a_time(
    engine: Engine, env_with: partial[WorkerEnv]
) -> None:
    await store_stuck(engine, ["sub_a", "sub_b", "sub_c"])
    probe = PlainProbe(engine, hold_until=2)

    stuck = await run_with_worker_env(env_with(kv=probe), get_stuck_submissions)

    assert probe.max_in_flight > 1
    assert len(stuck) == 3


async def test_tc_070__five_submissions_are_five_gets_in_flight(engine: Engine, env_with: partial[WorkerEnv]) -> None:
    await store_stuck(engine, FIVE)
    probe = PlainProbe(engine, hold_until=5)

    stuck = await run_with_worker_env(env_with(kv=probe), get_stuck_submissions)

    assert probe.max_in_flight == 5
    assert [submission.id for submission in stuck] == FIVE


async def test_tc_071__malformed_records_are_left_out_and_counted(engine: Engine, env: WorkerEnv) -> None:
    await store_stuck(engine, ["sub_a", "sub_z"])
    await store_raw_submissions(engine, MALFORMED_SUBMISSIONS)

    stuck = await run_with_worker_env(env, get_stuck_submissions)

    assert [submission.id for submission in stuck] == ["sub_a", "sub_z"]
    assert (stuck.missing, stuck.malformed, stuck.failed) == (0, len(MALFORMED_SUBMISSIONS), 0)


@pytest.mark.parametrize("text", ["yesterday", ""])
async def test_tc_071__an_updated_at_that_is_no_time_is_malformed_and_not_stuck(
    engine: Engine, env: WorkerEnv, text: str
) -> None:
    record = submission_at(SubmissionState.RECEIVED, updated_ms=START_MS, identity="sub_a", updated_at=text)
    await store_raw_submissions(engine, {"sub_a": encode_record(record)})

    stuck = await run_with_worker_env(env, get_stuck_submissions)

    assert stuck == []
    assert stuck.malformed == 1


async def test_tc_072__only_the_stuck_states_are_stuck(engine: Engine, env: WorkerEnv) -> None:
    for state in SubmissionState:
        old = submission_at(state, updated_ms=START_MS - 10 * FIVE_MINUTES_MS, identity=f"sub_{state}")
        await engine.writes.commit(putting_submission(old))

    stuck = await run_with_worker_env(env, get_stuck_submissions)

    assert len(SubmissionState) == 12
    assert {submission.state.value for submission in stuck} == CAN_BE_STUCK


async def test_tc_072__exactly_the_threshold_is_stuck_and_a_millisecond_less_is_not(
    engine: Engine, env: WorkerEnv, clock: FakeClock
) -> None:
    for state in CAN_BE_STUCK:
        record = submission_at(SubmissionState(state), updated_ms=START_MS, identity=f"sub_{state}")
        await engine.writes.commit(putting_submission(record))

    clock.shift((FIVE_MINUTES_MS - 1) / 1000)
    assert await run_with_worker_env(env, get_stuck_submissions) == []
    clock.shift(0.001)
    stuck = await run_with_worker_env(env, get_stuck_submissions)

    assert {submission.state.value for submission in stuck} == CAN_BE_STUCK
    assert {submission.stuck_for_ms for submission in stuck} == {FIVE_MINUTES_MS} == {STUCK_THRESHOLD_MS}


async def test_tc_072__a_submission_from_the_future_is_not_stuck(engine: Engine, env: WorkerEnv) -> None:
    ahead = submission_at(SubmissionState.RECEIVED, updated_ms=START_MS + 10 * FIVE_MINUTES_MS)
    await engine.writes.commit(putting_submission(ahead))

    assert await run_with_worker_env(env, get_stuck_submissions) == []


async def test_0310_ac_us1_01__all_keys_are_read_at_once__when_the_listing_has_many_pages(
    engine: Engine, env_with: partial[WorkerEnv]
) -> None:
    ids = [f"sub_{number}" for number in range(9)]
    await store_stuck(engine, ids)
    probe = PlainProbe(engine, hold_until=9, page_size=2, has_empty_pages=True)

    stuck = await run_with_worker_env(env_with(kv=probe), get_stuck_submissions)

    assert probe.max_in_flight == 9
    assert [submission.id for submission in stuck] == ids


async def test_0310_ac_us1_02__a_get_that_fails_costs_only_its_own_key(
    engine: Engine, env_with: partial[WorkerEnv]
) -> None:
    await store_stuck(engine, FIVE)
    await store_raw_submissions(engine, {"sub_bad": b"{"})
    probe = PlainProbe(engine, hold_until=6, fail_on=lambda key: key == "sub:sub_a")

    stuck = await run_with_worker_env(env_with(kv=probe), get_stuck_submissions)

    assert [submission.id for submission in stuck] == FIVE[1:]
    assert (stuck.missing, stuck.malformed, stuck.failed) == (0, 1, 1)


async def test_0310_ac_us1_03__a_stuck_submission_says_what_it_is_and_for_how_long(
    engine: Engine, env: WorkerEnv
) -> None:
    updated_ms = START_MS - 2 * FIVE_MINUTES_MS
    record = submission_at(SubmissionState.TIER2_SCANNING, updated_ms=updated_ms, identity="sub_a")
    await engine.writes.commit(putting_submission(record))

    (stuck,) = await run_with_worker_env(env, get_stuck_submissions)

    assert msgspec.to_builtins(stuck) == {
        "id": "sub_a",
        "state": "TIER2_SCANNING",
        "repoUrl": "https://github.com/acme/skills",
        "skillName": "demo",
        "skillPath": "skills/demo",
        "updatedAt": iso_from_ms(updated_ms),
        "stuckForMs": 600_000,
    }


async def test_0310_ac_us1_03__the_filter_is_state_and_threshold_together(engine: Engine, env: WorkerEnv) -> None:
    for identity, state, age_ms in [
        ("sub_old_active", SubmissionState.RECEIVED, 3 * FIVE_MINUTES_MS),
        ("sub_oldest_active", SubmissionState.AUTO_APPROVED, 4 * FIVE_MINUTES_MS),
        ("sub_young_active", SubmissionState.RECEIVED, FIVE_MINUTES_MS - 1),
        ("sub_old_review", SubmissionState.NEEDS_REVIEW, 3 * FIVE_MINUTES_MS),
        ("sub_young_published", SubmissionState.PUBLISHED, 0),
    ]:
        record = submission_at(state, updated_ms=START_MS - age_ms, identity=identity)
        await engine.writes.commit(putting_submission(record))

    stuck = await run_with_worker_env(env, get_stuck_submissions)

    assert [submission.id for submission in stuck] == ["sub_oldest_active", "sub_old_active"]


async def test_0313_ac_us1_01__every_get_begins_before_any_is_answered(
    engine: Engine, env_with: partial[WorkerEnv]
) -> None:
    ids = [f"sub_{number:03d}" for number in range(100)]
    await store_stuck(engine, ids)
    probe = PlainProbe(engine, hold_until=100)

    stuck = await run_with_worker_env(env_with(kv=probe), get_stuck_submissions)

    assert probe.max_in_flight == 100
    assert sorted(probe.keys_read) == [f"sub:{identity}" for identity in ids]
    assert len(stuck) == 100


async def test_0313_ac_us1_01__the_fan_out_stops_at_the_bound(engine: Engine, env_with: partial[WorkerEnv]) -> None:
    await store_stuck(engine, [f"sub_{number:02d}" for number in range(20)])
    probe = GatedProbe(engine, expected=7)
    env = env_with(kv=probe, reads_in_flight=7)

    assert await count_in_flight(env, probe, get_stuck_submissions) == 7
    assert len(probe.keys_read) == 20


async def test_0313_ac_us1_02__a_key_that_is_gone_or_fails_is_skipped(
    engine: Engine, env_with: partial[WorkerEnv]
) -> None:
    await store_stuck(engine, FIVE)
    vanishing = VanishingProbe(engine, vanishing=["sub:sub_b", "sub:sub_c"])

    stuck = await run_with_worker_env(env_with(kv=vanishing), get_stuck_submissions)
    assert [submission.id for submission in stuck] == ["sub_a", "sub_d", "sub_e"]
    assert (stuck.missing, stuck.malformed, stuck.failed) == (2, 0, 0)

    failing = PlainProbe(engine, fail_on=lambda key: key == "sub:sub_d")
    stuck = await run_with_worker_env(env_with(kv=failing), get_stuck_submissions)
    assert [submission.id for submission in stuck] == ["sub_a", "sub_e"]
    assert (stuck.missing, stuck.malformed, stuck.failed) == (0, 0, 1)


async def test_0313_ac_us1_03__the_counter_tells_side_by_side_from_one_after_another(
    engine: Engine, env_with: partial[WorkerEnv]
) -> None:
    await store_stuck(engine, FIVE)
    one_by_one = PlainProbe(engine)
    for identity in FIVE:
        await one_by_one.get(f"sub:{identity}")
    side_by_side = PlainProbe(engine, hold_until=5)

    await run_with_worker_env(env_with(kv=side_by_side), get_stuck_submissions)

    assert one_by_one.max_in_flight == 1
    assert side_by_side.max_in_flight == 5
    assert sorted(side_by_side.keys_read) == one_by_one.keys_read


@pytest.mark.parametrize("failing", [1, 4])
async def test_fr_001__failing_gets_leave_every_other_key_read(
    engine: Engine, env_with: partial[WorkerEnv], failing: int
) -> None:
    await store_stuck(engine, FIVE)
    bad = {f"sub:{identity}" for identity in FIVE[:failing]}
    probe = PlainProbe(engine, hold_until=5, fail_on=lambda key: key in bad)

    stuck = await run_with_worker_env(env_with(kv=probe), get_stuck_submissions)

    assert [submission.id for submission in stuck] == FIVE[failing:]
    assert stuck.failed == failing
    assert len(probe.keys_read) == 5


async def test_fr_001__every_get_failing_is_an_empty_answer_that_says_so(
    engine: Engine, env_with: partial[WorkerEnv]
) -> None:
    await store_stuck(engine, FIVE)
    probe = PlainProbe(engine, hold_until=5, fail_on=lambda key: True)

    stuck = await run_with_worker_env(env_with(kv=probe), get_stuck_submissions)

    assert stuck == []
    assert stuck.failed == 5


async def test_fr_001__a_listing_that_fails_raises(engine: Engine, env_with: partial[WorkerEnv]) -> None:
    await store_stuck(engine, FIVE)
    probe = UnlistableProbe(engine, page_size=2)

    with pytest.raises(ConnectionError, match="planted failure of the listing"):
        await run_with_worker_env(env_with(kv=probe), get_stuck_submissions)
