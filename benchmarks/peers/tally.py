"""The half of a run inside a child process: counts jobs, and obeys the harness over stdin and stdout.

A peer's module hands its three commands to `obey`. stdout carries one `Report` a line: the first says that the worker's
imports are done, the last has `done` set. On stdin, a line means go and the end of the stream means stop, so a child
whose parent has died stops too. A peer's module must print nothing else on stdout.
"""

from __future__ import annotations

import json
import select
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

REPORT_INTERVAL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Report:
    """What one worker process has done. Its times come with the last report only, and are of `time.monotonic`, which all
    processes of a machine share."""

    handled: int
    acknowledged: int
    first_start: float | None
    last_acknowledgement: float | None
    done: bool

    def to_line(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> Report:
        return cls(**json.loads(line))


class Tally:
    """Counts jobs from any thread. It takes no lock: appending to a list is atomic."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self._starts: list[float] = []
        self._acknowledgements: list[float] = []

    def count_start(self) -> None:
        """The whole body of a no-op job."""
        self._starts.append(time.monotonic())

    def count_acknowledgement(self) -> None:
        """To be called by a hook of the library that runs after its acknowledgement."""
        self._acknowledgements.append(time.monotonic())

    def report(self, *, done: bool = False) -> Report:
        return Report(
            handled=len(self._starts),
            acknowledged=len(self._acknowledgements),
            first_start=min(self._starts, default=None) if done else None,
            last_acknowledgement=max(self._acknowledgements, default=None) if done else None,
            done=done,
        )


def obey(
    *,
    enqueue: Callable[[str, int], None],
    work: Callable[[str, int, Tally], None],
    count_left: Callable[[str], int],
) -> None:
    """Run the command in `sys.argv`. `work(store, concurrency, tally)` returns soon after `tally.stop` is set."""
    match sys.argv[1:]:
        case ["enqueue", store, jobs]:
            enqueue(store, int(jobs))
        case ["work", store, concurrency]:
            _work(lambda tally: work(store, int(concurrency), tally))
        case ["left", store]:
            print(count_left(store))
        case unknown:
            raise SystemExit(f"not a command: {unknown}")


def _work(work: Callable[[Tally], None]) -> None:
    tally = Tally()
    _send(tally.report())
    sys.stdin.readline()
    threading.Thread(target=_report_until_stopped, args=(tally,), daemon=True).start()
    work(tally)
    _send(tally.report(done=True))


def _report_until_stopped(tally: Tally) -> None:
    while not select.select([sys.stdin], [], [], REPORT_INTERVAL_SECONDS)[0]:
        _send(tally.report())
    tally.stop.set()


def _send(report: Report) -> None:
    print(report.to_line(), flush=True)
