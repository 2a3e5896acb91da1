"""From a reading of facts to what an operator is told."""

from __future__ import annotations

import pytest

from vskill_platform.domain.alert import (
    AlertCode,
    AlertSeverity,
    MachineReading,
    PauseReading,
    QueueReading,
    Reading,
    Thresholds,
    judge,
)

LIMITS = Thresholds(
    stuck=10,
    dead_letters=0,
    no_throughput_s=900,
    paused_s=3600,
    scanner_errors=5,
    disk_free_bytes=5 * 1024**3,
    clock_skew_s=2,
)
GOOD = Reading(
    stuck=10,
    queue=QueueReading(waiting=5, dead=0, stalled_ms=899_999),
    pause=PauseReading(lasted_ms=3_599_999, overdue_ms=60_000),
    scanner_errors=5,
    machines=(MachineReading("a", 5 * 1024**3, 10**12, "/data", 2000.0),),
    unknown={},
)
MINUTE_MS = 60_000


def test_reading_gives_no_alert__when_every_fact_is_at_its_limit() -> None:
    looked = judge(GOOD, LIMITS)
    assert looked.findings == ()
    assert looked.judged == frozenset(AlertCode)


@pytest.mark.parametrize(
    ("changes", "code", "severity", "words"),
    [
        ({"stuck": 11}, AlertCode.STUCK, "warning", "11 submissions"),
        ({"queue": QueueReading(0, 1, 0)}, AlertCode.DEAD_LETTERS, "warning", "1 message could"),
        ({"queue": QueueReading(3, 0, 900_000)}, AlertCode.NO_THROUGHPUT, "critical", "15 minutes"),
        ({"pause": PauseReading(0, 61_000)}, AlertCode.PAUSED_LONG, "warning", "past the end"),
        ({"pause": PauseReading(180 * MINUTE_MS, 0)}, AlertCode.PAUSED_LONG, "warning", "3 hours"),
        ({"scanner_errors": 6}, AlertCode.SCANNER_ERRORS, "warning", "6 scans"),
        ({"machines": (MachineReading("b", 10**9, 10**12, "/d", 0),)}, AlertCode.DISK, "warning", "0.9 GiB"),
        ({"machines": (MachineReading("b", 10**6, 10**12, "/d", 0),)}, AlertCode.DISK, "critical", "on b"),
        ({"machines": (MachineReading("b", None, None, "/d", 2001),)}, AlertCode.CLOCK, "warning", "behind"),
        ({"machines": (MachineReading("b", None, None, "/d", -300_000),)}, AlertCode.CLOCK, "critical", "ahead of"),
        ({"unknown": {"queue": "down"}}, AlertCode.UNKNOWN, "critical", "queue (down)"),
        (
            {"machines": (MachineReading("b", None, None, "/d", 0, "no disk"),)},
            AlertCode.UNKNOWN,
            "critical",
            "no disk",
        ),
    ],
)
def test_reading_gives_the_alert_in_words__past_its_limit(
    changes: dict[str, object], code: AlertCode, severity: str, words: str
) -> None:
    (found,) = judge(GOOD._replace(**changes), LIMITS).findings  # type: ignore[arg-type]
    assert (found.code, found.severity) == (code, AlertSeverity(severity))
    assert words in found.sentence
    assert found.advice


def test_facts_that_are_not_known_judge_nothing__but_are_an_alert() -> None:
    blind = Reading(None, None, None, None, None, {"pause": "down", "queue": "down"})
    looked = judge(blind, LIMITS)
    assert [finding.code for finding in looked.findings] == [AlertCode.UNKNOWN]
    assert looked.judged == {AlertCode.UNKNOWN}


def test_machines_have_alerts_of_their_own__when_both_disks_are_full() -> None:
    full = tuple(MachineReading(host, 1, 10, "/data", 0.0) for host in ("a", "b"))
    assert [found.id for found in judge(GOOD._replace(machines=full), LIMITS).findings] == [
        "disk_nearly_full:a",
        "disk_nearly_full:b",
    ]
