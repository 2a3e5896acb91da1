"""How the registry is judged to stand: every reason from its sign, and none without it."""

from __future__ import annotations

import msgspec
import pytest

from vskill_platform.domain.standing import JobSign, Signs, Standing, judge_standing

NOW_MS = 1_800_000_000_000
MINUTE_MS = 60_000
SWEEP = JobSign(job="sweep", started_ms=NOW_MS - 30_000, finished_ms=NOW_MS - 29_000, error=None, interval_ms=60_000)
WELL = Signs(
    now_ms=NOW_MS,
    waiting=3,
    leased=1,
    dead=0,
    oldest_age_ms=2000,
    stuck=0,
    jobs=[SWEEP],
    taken_up=5,
    scans=9,
    drifted=0,
)


def codes(**changes: object) -> dict[str, Standing]:
    """What a judgement says when these signs are other than well."""
    judged = judge_standing(msgspec.structs.replace(WELL, **changes))
    assert judged.standing is (judged.reasons[0].standing if judged.reasons else Standing.HEALTHY)
    return {reason.code: reason.standing for reason in judged.reasons}


def job(**changes: object) -> list[JobSign]:
    return [msgspec.structs.replace(SWEEP, **changes)]


def test_registry_is_healthy__where_no_sign_is_bad() -> None:
    assert codes() == {}


def test_registry_is_healthy__where_nothing_waits_and_nothing_is_taken_up() -> None:
    assert codes(waiting=0, leased=0, oldest_age_ms=None, taken_up=0) == {}


@pytest.mark.parametrize(
    ("changes", "code", "standing"),
    [
        ({"trouble": "disk full"}, "store_trouble", Standing.UNHEALTHY),
        ({"drifted": 1}, "catalog_drift", Standing.DEGRADED),
        ({"paused_until": "2026-11-16T09:00:00.000Z"}, "queue_paused", Standing.DEGRADED),
        ({"oldest_age_ms": 15 * MINUTE_MS}, "queue_slow", Standing.DEGRADED),
        ({"oldest_age_ms": 10 * MINUTE_MS, "taken_up": 0, "leased": 0}, "no_throughput", Standing.UNHEALTHY),
        ({"dead": 1}, "dead_letters", Standing.DEGRADED),
        ({"lost": 2}, "messages_lost", Standing.DEGRADED),
        ({"stuck": 50}, "many_stuck", Standing.DEGRADED),
        ({"jobs": []}, "sweep_never_ran", Standing.DEGRADED),
        ({"jobs": job(error="boom")}, "sweep_failed", Standing.DEGRADED),
        ({"jobs": job(started_ms=NOW_MS - 6 * MINUTE_MS)}, "sweep_late", Standing.UNHEALTHY),
        ({"jobs": [SWEEP, *job(job="purge", started_ms=0)]}, "purge_late", Standing.DEGRADED),
        ({"scans": 20, "limited_scans": 5}, "scanner_errors", Standing.DEGRADED),
    ],
)
def test_sign_is_told_with_its_reason(changes: dict[str, object], code: str, standing: Standing) -> None:
    assert codes(**changes) == {code: standing}
    judged = judge_standing(msgspec.structs.replace(WELL, **changes))
    assert judged.standing is standing
    assert all(reason.sentence and reason.advice for reason in judged.reasons)


@pytest.mark.parametrize(
    "changes",
    [
        {"oldest_age_ms": 15 * MINUTE_MS - 1},
        {"oldest_age_ms": 14 * MINUTE_MS, "taken_up": 0, "leased": 1},
        {"oldest_age_ms": 14 * MINUTE_MS, "taken_up": None, "leased": 0},
        {"stuck": 49},
        {"scans": 26, "limited_scans": 5},
        {"scans": 4, "limited_scans": 4},
        {"scans": None, "limited_scans": None, "taken_up": None, "drifted": None, "lost": None},
        {"jobs": job(started_ms=NOW_MS - 5 * MINUTE_MS)},
        {"jobs": job(started_ms=0, interval_ms=0)},
    ],
)
def test_sign_that_is_not_bad_or_not_known_is_no_reason(changes: dict[str, object]) -> None:
    assert codes(**changes) == {}


def test_gravest_reason_comes_first__and_names_the_whole() -> None:
    judged = judge_standing(msgspec.structs.replace(WELL, dead=1, lost=1, trouble="disk full"))
    assert [reason.code for reason in judged.reasons] == ["store_trouble", "dead_letters", "messages_lost"]
    assert judged.standing is Standing.UNHEALTHY


def test_paused_queue_is_not_blamed_for_standing_still() -> None:
    paused = codes(paused_until="soon", oldest_age_ms=60 * MINUTE_MS, taken_up=0, leased=0, stuck=500)
    assert paused == {"queue_paused": Standing.DEGRADED}
