"""From what a look found to what a repository is known to be."""

from __future__ import annotations

import itertools

import msgspec
import pytest

from vskill_platform.domain.repo_health import (
    STALE_AFTER_MS,
    Head,
    LookAnswer,
    LookReason,
    LookTimes,
    RepositoryHealth,
    RepoStatus,
    SourceLook,
    is_news,
    judge_look,
    pause_host,
    repository_key,
)
from vskill_platform.domain.times import iso_from_ms, ms_from_iso
from vskill_platform.stores.repo_health import RepoHealth
from vskill_platform.testing.clock import START_MS

HOUR_MS = 3_600_000
TIMES = LookTimes(online_s=86_400, unknown_s=3600, gone_s=21_600, confirm_s=21_600)
NEW = RepositoryHealth(repo_url="https://github.com/acme/skills")
HERE = SourceLook(LookAnswer.HERE, head=Head("c" * 40, iso_from_ms(START_MS - HOUR_MS)))
MISSING = SourceLook(LookAnswer.MISSING, LookReason.NOT_THERE)
UNCLEAR = SourceLook(LookAnswer.UNCLEAR, LookReason.TIMED_OUT)
ELSEWHERE = SourceLook(LookAnswer.MOVED, moved_to="https://github.com/acme/moved")


def after(*looks: tuple[int, SourceLook]) -> RepositoryHealth:
    """What is known after these looks, each so many hours from the start."""
    health = NEW
    for hours, look in looks:
        health = judge_look(health, look, now_ms=START_MS + hours * HOUR_MS, times=TIMES)
    return health


@pytest.mark.parametrize(
    ("age_ms", "status"),
    [(0, RepoStatus.ONLINE), (STALE_AFTER_MS - 1, RepoStatus.ONLINE), (STALE_AFTER_MS, RepoStatus.STALE)],
)
def test_repository_is_stale__when_its_last_commit_is_a_year_old(age_ms: int, status: RepoStatus) -> None:
    look = SourceLook(LookAnswer.HERE, head=Head("c" * 40, iso_from_ms(START_MS - age_ms)))
    assert after((0, look)).status is status


def test_repository_is_online__when_the_date_of_its_commit_is_not_known() -> None:
    health = after((0, SourceLook(LookAnswer.HERE, head=Head("c" * 40))))
    assert (health.status, health.last_commit_at) == (RepoStatus.ONLINE, None)


@pytest.mark.parametrize(
    ("looks", "status"),
    [
        ([(0, MISSING)], RepoStatus.UNKNOWN),
        ([(0, HERE), (24, MISSING)], RepoStatus.UNKNOWN),
        ([(0, MISSING), (5, MISSING)], RepoStatus.UNKNOWN),
        ([(0, MISSING), (6, MISSING)], RepoStatus.GONE),
        ([(0, MISSING), (3, UNCLEAR), (6, MISSING)], RepoStatus.GONE),
        ([(0, MISSING), (3, HERE), (6, MISSING)], RepoStatus.UNKNOWN),
        ([(0, MISSING), (3, ELSEWHERE), (6, MISSING)], RepoStatus.UNKNOWN),
        ([(0, MISSING), (6, MISSING), (12, UNCLEAR)], RepoStatus.UNKNOWN),
        ([(0, MISSING), (6, MISSING), (12, HERE)], RepoStatus.ONLINE),
        ([(0, UNCLEAR), (6, UNCLEAR), (48, UNCLEAR)], RepoStatus.UNKNOWN),
    ],
)
def test_repository_is_gone__when_two_looks_some_hours_apart_say_so(
    looks: list[tuple[int, SourceLook]], status: RepoStatus
) -> None:
    assert after(*looks).status is status


def test_what_was_known_is_kept__when_a_look_finds_nothing_out() -> None:
    health = after((0, HERE), (24, UNCLEAR))
    assert (health.status, health.known_status) == (RepoStatus.UNKNOWN, RepoStatus.ONLINE)
    assert (health.known_at, health.checked_at) == (iso_from_ms(START_MS), iso_from_ms(START_MS + 24 * HOUR_MS))
    assert (health.head, health.reason) == ("c" * 40, "timed_out")


@pytest.mark.parametrize(
    ("looks", "told"),
    [
        ([(0, HERE)], [False]),
        ([(0, ELSEWHERE)], [True]),
        ([(0, HERE), (24, UNCLEAR), (25, HERE)], [False, False, False]),
        ([(0, HERE), (24, MISSING), (30, MISSING), (36, MISSING)], [False, False, True, False]),
        ([(0, HERE), (24, ELSEWHERE), (48, UNCLEAR), (49, ELSEWHERE), (73, HERE)], [False, True, False, False, True]),
    ],
)
def test_change_is_told_once__and_not_knowing_is_no_change(
    looks: list[tuple[int, SourceLook]], told: list[bool]
) -> None:
    states = [after(*looks[:count]) for count in range(len(looks) + 1)]
    assert [is_news(before, now) for before, now in itertools.pairwise(states)] == told


@pytest.mark.parametrize(
    ("looks", "hours"),
    [
        ([(0, HERE)], 24),
        ([(0, ELSEWHERE)], 24),
        ([(0, UNCLEAR)], 1),
        ([(0, UNCLEAR), (1, UNCLEAR)], 2),
        ([(hour, UNCLEAR) for hour in range(12)], 24),
        ([(0, UNCLEAR), (1, HERE), (2, UNCLEAR)], 1),
        ([(0, MISSING), (6, MISSING)], 6),
        ([(0, SourceLook(LookAnswer.UNCLEAR, LookReason.RATE_LIMITED, retry_after_s=7 * 3600))], 7),
    ],
)
def test_next_look_comes_by_what_was_found__a_little_apart_for_each_repository(
    looks: list[tuple[int, SourceLook]], hours: int
) -> None:
    health = after(*looks)
    pause_ms = ms_from_iso(health.next_look_at) - ms_from_iso(health.checked_at)
    assert 0.9 <= pause_ms / (hours * HOUR_MS) <= 1.1
    assert after(*looks) == health


def test_second_look_at_a_missing_repository_comes__when_it_can_confirm() -> None:
    health = after((0, MISSING))
    assert ms_from_iso(health.next_look_at) - START_MS == TIMES.confirm_s * 1000


def test_looks_are_spread__over_a_fifth_of_their_time() -> None:
    places = {
        judge_look(
            RepositoryHealth(repo_url=f"https://x.example/a/{n}"), HERE, now_ms=START_MS, times=TIMES
        ).next_look_at
        for n in range(100)
    }
    hours = [(ms_from_iso(place) - START_MS) / HOUR_MS for place in places]
    assert len(places) == 100
    assert min(hours) < 22.2
    assert max(hours) > 25.8


def test_host_is_left_alone_for_longer__each_time_that_it_asks() -> None:
    pause, waits = None, []
    for _ in range(12):
        pause = pause_host(pause, host="x.example", now_ms=START_MS, retry_after_s=90)
        waits.append((pause.until_ms - START_MS) / 1000)
    assert waits[:4] == [90, 120, 240, 480]
    assert waits[-1] == 6 * 3600


def test_repository_has_one_key__however_its_address_is_spelled() -> None:
    assert repository_key("https://GitHub.com/Acme/Skills") == repository_key("http://github.com/acme/skills")
    assert repository_key("https://github.com/acme/skills") != repository_key("https://github.com/acme/skill")


def test_record_that_says_offline_reads_as_unknown() -> None:
    """Versions before this one called rate limits and time-outs OFFLINE, too."""
    old = b'{"v":1,"slug":"a/b/c","status":"OFFLINE","checkedAt":"2026-01-01T00:00:00.000Z"}'
    assert msgspec.json.decode(old, type=RepoHealth).status is RepoStatus.UNKNOWN
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(old.replace(b"OFFLINE", b"ON FIRE"), type=RepoHealth)


def test_nothing_is_ever_stored_as_offline() -> None:
    assert "OFFLINE" not in {status.value for status in RepoStatus}
