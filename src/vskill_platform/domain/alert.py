"""When an operator has to be told: pure rules from a reading of facts to what is wrong, in words, and what to do.

A fact that could not be read is None. It neither opens nor closes an alert of its own kind, because nothing is known; that it
is not known is an alert in itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

import msgspec

from vskill_platform.domain.records import Record
from vskill_platform.domain.times import iso_from_ms

ALERT_PREFIX = "alert:"
NO_DISK_BYTES = 256 * 1024**2
"""With less than this, writes will soon be refused."""
SKEW_FAIL_MS = 300_000
"""Submissions count as stuck after five minutes: a clock that is off by as much sees nothing but stuck ones."""
OVERDUE_MS = 60_000
"""How far a pause may be past its end before somebody is told: clocks differ a little."""
HISTORY_KEPT = 20


class AlertCode(StrEnum):
    """What can be wrong."""

    STUCK = "stuck_submissions"
    DEAD_LETTERS = "dead_letters"
    NO_THROUGHPUT = "no_throughput"
    PAUSED_LONG = "paused_long"
    SCANNER_ERRORS = "scanner_errors"
    DISK = "disk_nearly_full"
    CLOCK = "clock_skew"
    UNKNOWN = "facts_unknown"


class AlertSeverity(StrEnum):
    """How bad it is: somebody should look today, or now."""

    WARNING = "warning"
    CRITICAL = "critical"


class Thresholds(NamedTuple):
    """From where on somebody is told."""

    stuck: int
    dead_letters: int
    no_throughput_s: float
    paused_s: float
    scanner_errors: int
    disk_free_bytes: int
    clock_skew_s: float


class QueueReading(NamedTuple):
    """How the queue stands. `stalled_ms` is how long messages have waited with nothing taken up and no pause, if known."""

    waiting: int
    dead: int
    stalled_ms: int | None


class PauseReading(NamedTuple):
    """A pause: for how long it has lasted, prolongations included, and how far it is past the end that was asked for."""

    lasted_ms: int
    overdue_ms: int


class MachineReading(NamedTuple):
    """What a machine says of itself. Bytes are None where it could not look, the skew where there is nothing to compare."""

    host: str
    free_bytes: int | None
    total_bytes: int | None
    folder: str
    skew_ms: float | None
    trouble: str | None = None


class Reading(NamedTuple):
    """The facts at one moment. What is None could not be read, and `unknown` says why, by the name of the fact."""

    stuck: int | None
    queue: QueueReading | None
    pause: PauseReading | None
    scanner_errors: int | None
    machines: tuple[MachineReading, ...] | None
    unknown: Mapping[str, str]


class Finding(NamedTuple):
    """Something that is wrong: a sentence for people, and what to do about it. `subject` is a machine's name, or empty."""

    code: AlertCode
    severity: AlertSeverity
    sentence: str
    advice: str
    subject: str = ""

    @property
    def id(self) -> str:
        """The name that the alert is known by."""
        return alert_id(self.code, self.subject)


class Looked(NamedTuple):
    """What a look at a reading gave: what is wrong, and the alerts that it can say are over where they are not among it."""

    findings: tuple[Finding, ...]
    judged: frozenset[AlertCode]


class HistoryLine(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing that happened to an alert."""

    at: str
    what: str
    sentence: str


class Alert(Record, frozen=True, kw_only=True, rename="camel"):
    """An alert as it is kept. It is open while `closed_at` is null; `told_at` is when it was last told to anybody."""

    code: AlertCode
    subject: str = ""
    severity: AlertSeverity
    sentence: str
    advice: str
    opened_at: str
    seen_at: str
    told_at: str | None = None
    closed_at: str | None = None
    is_told: bool = False
    acknowledged_at: str | None = None
    acknowledged_by: str = ""
    note: str = ""
    history: tuple[HistoryLine, ...] = ()

    @property
    def id(self) -> str:
        """The name that the alert is known by."""
        return alert_id(self.code, self.subject)

    @property
    def is_open(self) -> bool:
        """Whether the trouble was there when somebody last looked."""
        return self.closed_at is None


def alert_id(code: AlertCode, subject: str) -> str:
    """The code, and the machine where it is about one."""
    return f"{code.value}:{subject}" if subject else code.value


def alert_key(identity: str) -> str:
    """The key of an alert's record."""
    return f"{ALERT_PREFIX}{identity}"


def judge(reading: Reading, thresholds: Thresholds) -> Looked:
    """What is wrong by this reading, and which kinds of alert it could judge at all."""
    findings = tuple(
        finding
        for rule in (_stuck, _dead_letters, _no_throughput, _paused_long, _scanner_errors, _disks, _clocks, _unknown)
        for finding in rule(reading, thresholds)
    )
    return Looked(findings, frozenset(_judged(reading)))


def _judged(reading: Reading) -> Iterator[AlertCode]:
    yield AlertCode.UNKNOWN
    if reading.stuck is not None:
        yield AlertCode.STUCK
    if reading.queue is not None:
        yield AlertCode.DEAD_LETTERS
        if reading.queue.stalled_ms is not None:
            yield AlertCode.NO_THROUGHPUT
    if "pause" not in reading.unknown:
        yield AlertCode.PAUSED_LONG
    if reading.scanner_errors is not None:
        yield AlertCode.SCANNER_ERRORS
    if reading.machines is not None:
        yield AlertCode.DISK
        yield AlertCode.CLOCK


def _stuck(reading: Reading, limits: Thresholds) -> Iterator[Finding]:
    if reading.stuck is not None and reading.stuck > limits.stuck:
        yield Finding(
            AlertCode.STUCK,
            AlertSeverity.WARNING,
            f"{reading.stuck} submissions have not moved for five minutes or longer; up to {limits.stuck} are usual here.",
            "Look at the stuck submissions: those that wait in a long queue need more workers, the others the log's word.",
        )


def _dead_letters(reading: Reading, limits: Thresholds) -> Iterator[Finding]:
    if reading.queue is not None and reading.queue.dead > limits.dead_letters:
        dead = reading.queue.dead
        yield Finding(
            AlertCode.DEAD_LETTERS,
            AlertSeverity.WARNING,
            f"{_amount(dead, 'message')} could not be worked on and will not be tried again.",
            "Look at the dead letters: each has its last error. Send them back once the cause is gone, or drop them.",
        )


def _no_throughput(reading: Reading, limits: Thresholds) -> Iterator[Finding]:
    queue = reading.queue
    if queue is None or queue.stalled_ms is None:
        return
    if queue.waiting and queue.stalled_ms >= limits.no_throughput_s * 1000:
        yield Finding(
            AlertCode.NO_THROUGHPUT,
            AlertSeverity.CRITICAL,
            f"{_amount(queue.waiting, 'message')} wait, and none was taken up for {_lasting(queue.stalled_ms)}.",
            "See that a worker runs and what its log says.",
        )


def _paused_long(reading: Reading, limits: Thresholds) -> Iterator[Finding]:
    pause = reading.pause
    if pause is None:
        return
    if pause.overdue_ms > OVERDUE_MS:
        sentence = f"The queue is paused, {_lasting(pause.overdue_ms)} past the end that was asked for."
    elif pause.lasted_ms >= limits.paused_s * 1000:
        sentence = f"The queue has been paused for {_lasting(pause.lasted_ms)}."
    else:
        return
    yield Finding(AlertCode.PAUSED_LONG, AlertSeverity.WARNING, sentence, "Resume the queue, or prolong the pause.")


def _scanner_errors(reading: Reading, limits: Thresholds) -> Iterator[Finding]:
    errors = reading.scanner_errors
    if errors is not None and errors > limits.scanner_errors:
        yield Finding(
            AlertCode.SCANNER_ERRORS,
            AlertSeverity.WARNING,
            f"{_amount(errors, 'scan')} ended without a report in this hour and the one before.",
            "Look for scan_ended_early and scanner_unavailable in the log; memory is what scanners run out of most often.",
        )


def _disks(reading: Reading, limits: Thresholds) -> Iterator[Finding]:
    for machine in reading.machines or ():
        free = machine.free_bytes
        if free is not None and free < limits.disk_free_bytes:
            yield Finding(
                AlertCode.DISK,
                AlertSeverity.CRITICAL if free < NO_DISK_BYTES else AlertSeverity.WARNING,
                f"{_size(free)} of {_size(machine.total_bytes or 0)} are free for {machine.folder} on {machine.host}.",
                "Make room before it runs out: writes are refused when the disk is full.",
                machine.host,
            )


def _clocks(reading: Reading, limits: Thresholds) -> Iterator[Finding]:
    for machine in reading.machines or ():
        skew_ms = machine.skew_ms
        if skew_ms is not None and abs(skew_ms) > limits.clock_skew_s * 1000:
            direction = "behind" if skew_ms > 0 else "ahead of"
            yield Finding(
                AlertCode.CLOCK,
                AlertSeverity.CRITICAL if abs(skew_ms) >= SKEW_FAIL_MS else AlertSeverity.WARNING,
                f"The clock of {machine.host} is {abs(skew_ms) / 1000:.1f} s {direction} what it is compared with.",
                "Synchronise the machines by NTP. Where there is one machine, its clock was set back.",
                machine.host,
            )


def _unknown(reading: Reading, limits: Thresholds) -> Iterator[Finding]:
    troubles = dict(reading.unknown)
    troubles.update({f"machine {m.host}": m.trouble for m in reading.machines or () if m.trouble is not None})
    if troubles:
        told = "; ".join(f"{name} ({why})" for name, why in sorted(troubles.items()))
        yield Finding(
            AlertCode.UNKNOWN,
            AlertSeverity.CRITICAL,
            f"What could not be looked at, so that nothing is known of it: {told}.",
            "See that the store answers: vskill-platform doctor looks at everything.",
        )


def _amount(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _lasting(ms: int) -> str:
    minutes = max(1, round(ms / 60_000))
    return f"{minutes} minutes" if minutes < 120 else f"{round(minutes / 60)} hours"


def _size(number: int) -> str:
    return f"{number / 1024**3:.1f} GiB"


def open_alert(finding: Finding, *, now_ms: int, before: Alert | None) -> Alert:
    """The record of an alert that opens, with the history of the one that was there before."""
    now = iso_from_ms(now_ms)
    return Alert(
        code=finding.code,
        subject=finding.subject,
        severity=finding.severity,
        sentence=finding.sentence,
        advice=finding.advice,
        opened_at=now,
        seen_at=now,
        told_at=None if before is None else before.told_at,
        history=_longer(() if before is None else before.history, now, "opened", finding.sentence),
    )


def see_again(alert: Alert, finding: Finding, *, now_ms: int) -> Alert:
    """The record of an open alert whose trouble is still there. One that has become worse has not been told yet."""
    is_worse = alert.severity is AlertSeverity.WARNING and finding.severity is AlertSeverity.CRITICAL
    now = iso_from_ms(now_ms)
    seen = msgspec.structs.replace(
        alert, severity=finding.severity, sentence=finding.sentence, advice=finding.advice, seen_at=now
    )
    if not is_worse:
        return seen
    history = _longer(alert.history, now, "worse", finding.sentence)
    return msgspec.structs.replace(seen, told_at=None, is_told=False, acknowledged_at=None, history=history)


def close_alert(alert: Alert, *, word: str, now_ms: int) -> Alert:
    """The record of an alert whose trouble is over."""
    now = iso_from_ms(now_ms)
    history = _longer(alert.history, now, "closed", word)
    return msgspec.structs.replace(alert, closed_at=now, seen_at=now, history=history)


def acknowledge_alert(alert: Alert, *, by: str, note: str, now_ms: int) -> Alert:
    """The record of an alert that a person has seen: it is not told again while it stays open and as bad as it is."""
    now = iso_from_ms(now_ms)
    history = _longer(alert.history, now, "acknowledged", f"{by}: {note}")
    return msgspec.structs.replace(alert, acknowledged_at=now, acknowledged_by=by, note=note, history=history)


def closing_word(alert: Alert) -> str:
    """What is said when an alert's trouble is over."""
    return _CLOSING[alert.code].format(subject=alert.subject)


def _longer(history: tuple[HistoryLine, ...], at: str, what: str, sentence: str) -> tuple[HistoryLine, ...]:
    return (*history, HistoryLine(at=at, what=what, sentence=sentence))[-HISTORY_KEPT:]


_CLOSING = {
    AlertCode.STUCK: "No more submissions than usual stand still.",
    AlertCode.DEAD_LETTERS: "No more dead letters than usual are left.",
    AlertCode.NO_THROUGHPUT: "The queue moves again, or nothing waits in it.",
    AlertCode.PAUSED_LONG: "The queue is no longer paused for too long.",
    AlertCode.SCANNER_ERRORS: "Scans end with a report again.",
    AlertCode.DISK: "There is room on {subject} again, or it no longer reports.",
    AlertCode.CLOCK: "The clock of {subject} is right again, or it no longer reports.",
    AlertCode.UNKNOWN: "Everything can be looked at again.",
}
