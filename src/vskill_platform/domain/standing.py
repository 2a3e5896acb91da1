"""How the registry stands, in one word, and why: a pure judgement of what was read from the store.

A sign that nobody knows (None) is never taken for a good one or a bad one: what must be known and is not is a reason of its own.
Every reason has a stable code, a sentence that says what is the matter, and what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec

OLDEST_AGE_MS = 15 * 60 * 1000
"""A message that has waited for longer than this is a sign that too little is being done."""
STANDSTILL_MS = 10 * 60 * 1000
"""Work that waits for so long while nothing is taken up is a sign that nothing is being done at all."""
MANY_STUCK = 50
LATE_INTERVALS = 5
LATE_AT_LEAST_MS = 3 * 60 * 1000
"""A cron job is late after so many of its intervals, and never before so long: a restart is no reason to worry anybody."""
SCAN_ERROR_SHARE = 0.2
SCAN_ERRORS_AT_LEAST = 5
SWEEP_JOB = "sweep"


class Standing(StrEnum):
    """How the registry stands."""

    HEALTHY = "HEALTHY"
    DEGRADED = "DEGRADED"
    UNHEALTHY = "UNHEALTHY"


_ORDER = list(Standing)


class Reason(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Why the registry does not stand as it should: how grave that is, a stable code, a sentence, and what to do."""

    standing: Standing
    code: str
    sentence: str
    advice: str


class JobSign(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How a cron job ran last. `interval_ms` is 0 where it is not known."""

    job: str
    started_ms: int
    finished_ms: int | None
    error: str | None
    interval_ms: int = 0


class Signs(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a judgement is made of, as of one moment. None is not known.

    `taken_up` counts submissions that a worker took up lately, `scans` and `limited_scans` those of the last hours, of which the
    limited ones could not see everything. `drifted` counts catalog rows that did not match their records at the last look.
    """

    now_ms: int
    waiting: int
    leased: int
    dead: int
    oldest_age_ms: int | None
    stuck: int
    lost: int | None = None
    paused_until: str | None = None
    trouble: str | None = None
    jobs: Sequence[JobSign] = ()
    taken_up: int | None = None
    scans: int | None = None
    limited_scans: int | None = None
    drifted: int | None = None


class Judgement(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How the registry stands, and every reason, the gravest first; none where it is healthy."""

    standing: Standing
    reasons: list[Reason]


def judge_standing(signs: Signs) -> Judgement:
    """How the registry stands by these signs."""
    reasons = [*_of_store(signs), *_of_queue(signs), *_of_stuck(signs), *_of_jobs(signs), *_of_scans(signs)]
    reasons.sort(key=lambda reason: -_ORDER.index(reason.standing))
    return Judgement(standing=reasons[0].standing if reasons else Standing.HEALTHY, reasons=reasons)


def _of_store(signs: Signs) -> Iterator[Reason]:
    if signs.trouble is not None:
        yield _unhealthy(
            "store_trouble",
            f"The store does not take what is written: {signs.trouble}",
            "Look at the disk or the database; `vskill-platform doctor` says what it finds.",
        )
    if signs.drifted:
        yield _degraded(
            "catalog_drift",
            f"{_count(signs.drifted, 'row')} of the lists did not match their records at the last look.",
            "Run `vskill-platform rebuild-catalog`, and report what the log says of it.",
        )


def _of_queue(signs: Signs) -> Iterator[Reason]:
    age_ms = signs.oldest_age_ms or 0
    if signs.paused_until is not None:
        yield _degraded(
            "queue_paused",
            f"The queue is paused until {signs.paused_until}; {_count(signs.waiting, 'message')} wait.",
            "Resume it when the reason is gone. It resumes by itself at that time.",
        )
    elif signs.waiting and signs.taken_up == 0 and not signs.leased and age_ms >= STANDSTILL_MS:
        yield _unhealthy(
            "no_throughput",
            f"{_count(signs.waiting, 'message')} wait, the oldest for {_duration(age_ms)}, and nothing is taken up.",
            "See that a worker runs (`vskill-platform worker`, or `up`) and that it can reach the store.",
        )
    elif age_ms >= OLDEST_AGE_MS:
        yield _degraded(
            "queue_slow",
            f"The oldest message is {_duration(age_ms)} old.",
            "Look at what is in flight. More workers, or more batches in flight, shorten the line.",
        )
    if signs.dead:
        yield _degraded(
            "dead_letters",
            f"{_count(signs.dead, 'message')} could not be delivered and were given up.",
            "Read their errors, mend the cause, then send them back or drop them with a reason.",
        )


def _of_stuck(signs: Signs) -> Iterator[Reason]:
    if signs.lost:
        yield _degraded(
            "messages_lost",
            f"{_count(signs.lost, 'submission')} have lost their message.",
            "The sweep sends them again within a minute. Requeue them if you do not want to wait.",
        )
    if signs.stuck >= MANY_STUCK and signs.paused_until is None:
        yield _degraded(
            "many_stuck",
            f"{_count(signs.stuck, 'submission')} have not moved for five minutes or longer.",
            "Most often the line is long. See the stuck page for those whose message is dead or lost.",
        )


def _of_jobs(signs: Signs) -> Iterator[Reason]:
    if not any(job.job == SWEEP_JOB for job in signs.jobs):
        yield _degraded(
            "sweep_never_ran",
            "The sweep for stuck submissions has never run.",
            "See that a cron runs (`vskill-platform cron`, or `up`).",
        )
    for job in signs.jobs:
        yield from _of_job(job, now_ms=signs.now_ms)


def _of_job(job: JobSign, *, now_ms: int) -> Iterator[Reason]:
    age_ms = now_ms - job.started_ms
    if job.interval_ms and age_ms > max(job.interval_ms * LATE_INTERVALS, LATE_AT_LEAST_MS):
        make = _unhealthy if job.job == SWEEP_JOB else _degraded
        yield make(
            f"{job.job}_late",
            f"The cron job '{job.job}' began {_duration(age_ms)} ago; it is due every {_duration(job.interval_ms)}.",
            "See that a cron runs (`vskill-platform cron`, or `up`) and holds its lease.",
        )
    elif job.error is not None:
        yield _degraded(
            f"{job.job}_failed",
            f"The cron job '{job.job}' failed: {job.error}",
            "It is tried again at its next time. The log has the whole error.",
        )


def _of_scans(signs: Signs) -> Iterator[Reason]:
    limited, scans = signs.limited_scans or 0, signs.scans or 0
    if limited >= SCAN_ERRORS_AT_LEAST and limited >= scans * SCAN_ERROR_SHARE:
        yield _degraded(
            "scanner_errors",
            f"{limited:,} of the last {_count(scans, 'scan')} crashed, took too long or hit another limit.",
            "Such skills wait for a person. `vskill-platform doctor` tries the scanner; see its memory and time limits.",
        )


def _degraded(code: str, sentence: str, advice: str) -> Reason:
    return Reason(standing=Standing.DEGRADED, code=code, sentence=sentence, advice=advice)


def _unhealthy(code: str, sentence: str, advice: str) -> Reason:
    return Reason(standing=Standing.UNHEALTHY, code=code, sentence=sentence, advice=advice)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _duration(milliseconds: int) -> str:
    """A span of time as people say it, by its largest unit or two."""
    seconds = milliseconds // 1000
    if seconds < 120:
        return f"{seconds} seconds"
    minutes = seconds // 60
    if minutes < 120:
        return f"{minutes} minutes"
    hours, rest = divmod(minutes, 60)
    return f"{hours} hours {rest} minutes" if hours < 48 else f"{hours // 24} days"
