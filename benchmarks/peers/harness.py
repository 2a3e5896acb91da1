"""The half of a run inside the benchmark's process: makes a store, starts the children, and reads what they report.

Children run in sessions of their own, so that a library's signal handlers, threads and global state cannot reach the
benchmark. They are all gone, and the store with them, when `run_peer` returns or raises.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.peers.tally import Report
from benchmarks.peers.valkey import ValkeyNotStarted, start_valkey

ROOT = Path(__file__).parents[2]
TIME_LIMIT_SECONDS = 120.0
POLL_SECONDS = 0.02
SHOWN_ERROR_CHARACTERS = 2000


class PeerFailed(Exception):
    """A peer is not installed, broke, took too long, or did not handle each job once."""


@dataclass(frozen=True, slots=True)
class Setup:
    """How to run one library: `concurrency` is of each of the `processes`."""

    module: str
    distributions: tuple[str, ...]
    processes: int
    concurrency: int
    remark: str
    accelerators: tuple[str, ...] = ()
    needs_valkey: bool = False


@dataclass(frozen=True, slots=True)
class PeerResult:
    """A run in which every job was handled and acknowledged once."""

    jobs: int
    seconds: float
    note: str


class WorkerProcess:
    """One worker of a library in a child process, with its newest report."""

    def __init__(self, command: Sequence[str], error_log: Path) -> None:
        self.report: Report | None = None
        with error_log.open("ab") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=ROOT,
                start_new_session=True,
            )
        self._reader = threading.Thread(target=self._read_reports, daemon=True)
        self._reader.start()

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._process.kill()
        self._process.wait()
        self._reader.join()

    def _read_reports(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self.report = Report.from_line(line)

    @property
    def acknowledged(self) -> int:
        return self.report.acknowledged if self.report else 0

    @property
    def is_done(self) -> bool:
        return self.report is not None and self.report.done

    @property
    def has_died(self) -> bool:
        return self._process.poll() is not None and not self._reader.is_alive() and not self.is_done

    def go(self) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # a worker that died shows as such
            self._process.stdin.write("go\n")
            self._process.stdin.flush()

    def stop(self) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()


def run_peer(setup: Setup, jobs: int, *, server_url: str | None = None) -> PeerResult:
    """Enqueue `jobs`, drain them and check that none was lost or repeated. The store is a server's, where one is given."""
    if jobs < 1:
        raise ValueError("a run needs at least one job")
    note = describe(setup)
    deadline = time.monotonic() + TIME_LIMIT_SECONDS
    with TemporaryDirectory(prefix="peer-") as name:
        folder = Path(name)
        with nullcontext(server_url) if server_url else open_store(setup, folder) as store:
            call(setup, "enqueue", store, str(jobs), deadline=deadline)
            reports = drain(setup, store, jobs=jobs, deadline=deadline, error_log=folder / "errors.log")
            left = int(call(setup, "left", store, deadline=deadline))
    check_each_once(reports, jobs=jobs, left=left)
    return PeerResult(jobs=jobs, seconds=measure_seconds(reports), note=note)


def describe(setup: Setup) -> str:
    """Say the settings and the versions; raise if a distribution is missing."""
    try:
        versions = [f"{name} {version(name)}" for name in setup.distributions]
    except PackageNotFoundError as missing:
        raise PeerFailed(f"{missing.name} is not installed") from missing
    versions += [find_version(name) for name in setup.accelerators]
    plural = "es" if setup.processes > 1 else ""
    return f"{setup.processes} process{plural} of {setup.concurrency}; {setup.remark}; {', '.join(versions)}"


def find_version(distribution: str) -> str:
    try:
        return f"{distribution} {version(distribution)}"
    except PackageNotFoundError:
        return f"no {distribution}"


@contextmanager
def open_store(setup: Setup, folder: Path) -> Iterator[str]:
    """Yield what the peer's module takes as its store: a server's URL or a path."""
    if not setup.needs_valkey:
        yield str(folder / "queue.db")
        return
    try:
        with start_valkey(folder) as url:
            yield url
    except ValkeyNotStarted as failure:
        raise PeerFailed(str(failure)) from failure


def call(setup: Setup, *command: str, deadline: float) -> str:
    """Run one short command of the peer's module and return what it printed."""
    try:
        finished = subprocess.run(
            child_command(setup, *command),
            check=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=ROOT,
            start_new_session=True,
            timeout=max(0.0, deadline - time.monotonic()),
        )
    except subprocess.TimeoutExpired as late:
        raise PeerFailed(f"{command[0]} took too long") from late
    except subprocess.CalledProcessError as failure:
        raise PeerFailed(f"{command[0]} broke: {failure.stderr[-SHOWN_ERROR_CHARACTERS:]}") from failure
    return finished.stdout


def child_command(setup: Setup, *command: str) -> list[str]:
    return [sys.executable, "-m", setup.module, *command]


def drain(setup: Setup, store: str, *, jobs: int, deadline: float, error_log: Path) -> list[Report]:
    """Run the workers until all jobs are acknowledged, and return their last reports."""
    command = child_command(setup, "work", store, str(setup.concurrency))
    with ExitStack() as stack:
        workers = [stack.enter_context(WorkerProcess(command, error_log)) for _ in range(setup.processes)]

        def wait_until(condition: Callable[[], bool]) -> None:
            while not condition():
                if any(worker.has_died for worker in workers):
                    raise PeerFailed(f"a worker died: {read_end(error_log)}")
                if time.monotonic() > deadline:
                    acknowledged = sum(worker.acknowledged for worker in workers)
                    raise PeerFailed(f"{acknowledged} of {jobs} jobs at the time limit: {read_end(error_log)}")
                time.sleep(POLL_SECONDS)

        wait_until(lambda: all(worker.report for worker in workers))
        for worker in workers:
            worker.go()
        wait_until(lambda: sum(worker.acknowledged for worker in workers) >= jobs)
        for worker in workers:
            worker.stop()
        wait_until(lambda: all(worker.is_done for worker in workers))
        return [worker.report for worker in workers if worker.report]


def read_end(error_log: Path) -> str:
    return error_log.read_text(errors="replace")[-SHOWN_ERROR_CHARACTERS:].strip() or "nothing on stderr"


def check_each_once(reports: Sequence[Report], *, jobs: int, left: int) -> None:
    handled = sum(report.handled for report in reports)
    acknowledged = sum(report.acknowledged for report in reports)
    if (handled, acknowledged, left) != (jobs, jobs, 0):
        raise PeerFailed(f"of {jobs} jobs {handled} were handled, {acknowledged} acknowledged, {left} left")


def measure_seconds(reports: Sequence[Report]) -> float:
    starts = [report.first_start for report in reports if report.first_start is not None]
    ends = [report.last_acknowledgement for report in reports if report.last_acknowledgement is not None]
    return max(ends) - min(starts)
