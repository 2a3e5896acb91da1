"""The writer: one thread that owns the only writing connection and commits in groups.

Jobs wait in a line. The thread takes up to `group_limit` of them into one transaction, a savepoint each, and commits once:
one fsync for the group. No caller hears of success before COMMIT has returned. A job that fails is rolled back alone; if
SQLite gives up the whole transaction, or COMMIT fails, every job of the group fails.

A COMMIT that failed may have left its whole group in the log, where the next process to open the file would find it. So the
writer at once commits something else, which takes its place; until that succeeds, what failed is unknown, and says so.

The log is brought into the file between groups, when nobody waits: that this fails is no reason to refuse a commit.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

import apsw
import structlog

from vskill_platform.domain.errors import CommitUnknown, EngineClosed, InvalidInput, StoreUnavailable, VskillError
from vskill_platform.engines.sqlite.connection import close_quietly, refused_values, translate_refusal
from vskill_platform.engines.sqlite.timers import settle_timers
from vskill_platform.ports.clock import Clock

T = TypeVar("T")
GROUP_LIMIT = 256
CHECKPOINT_PAGES = 1000
ROWS_AT_A_TIME = 2000
_SET_SEQUENCE = "UPDATE sequence SET last = ? WHERE name = 'commit'"
_REFUSED_WHOLE = (apsw.FullError, apsw.ReadOnlyError)
"""What the disk says when it has not taken the end of a commit, so that nobody can find the commit there later."""
_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Transaction:
    """What a job works with: the connection, the moment of the group, and notes on whom to wake afterwards."""

    connection: apsw.Connection
    now_ms: int
    max_attempts: int
    sequence: int
    last_event: int | None = None
    has_arrivals: bool = False

    def next_sequence(self) -> int:
        """The next number of all; a number is never used twice."""
        self.sequence += 1
        return self.sequence

    @contextmanager
    def savepoint(self, name: str) -> Iterator[None]:
        """A part that, if it raises, leaves no trace: neither in the file nor in the notes."""
        notes = self.last_event, self.has_arrivals
        self.connection.execute(f"SAVEPOINT {name}")
        try:
            with refused_values():
                yield
        except BaseException:
            self.last_event, self.has_arrivals = notes
            if self.connection.in_transaction:
                self.connection.execute(f"ROLLBACK TO {name}")
                self.connection.execute(f"RELEASE {name}")
            raise
        self.connection.execute(f"RELEASE {name}")


Work = Callable[[Transaction], T]


@dataclass(slots=True)
class _Job(Generic[T]):
    work: Work[T]
    future: asyncio.Future[T]
    result: T | None = None
    error: BaseException | None = None


@dataclass(slots=True)
class GroupOutcome:
    """What a group did that others may be waiting for."""

    last_event: int | None
    has_arrivals: bool


@dataclass(slots=True)
class WriterCounts:
    """How the writer has been working, for benchmarks and metrics."""

    jobs: int = 0
    groups: int = 0


class Writer:
    """Hands jobs to the writing thread and their outcomes back to the event loop."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: Path,
        *,
        clock: Clock,
        max_attempts: int,
        on_group: Callable[[GroupOutcome], None],
        group_limit: int = GROUP_LIMIT,
        checkpoint_pages: int = CHECKPOINT_PAGES,
    ) -> None:
        self.counts = WriterCounts()
        self.trouble: VskillError | None = None
        self._connection = connection
        self._path = path
        self._clock = clock
        self._max_attempts = max_attempts
        self._on_group = on_group
        self._group_limit = group_limit
        self._checkpoint_pages = checkpoint_pages
        self._log_pages = 0
        connection.set_wal_hook(self._note_log)
        self._loop = asyncio.get_running_loop()
        self._line: SimpleQueue[_Job[Any] | None] = SimpleQueue()
        self._is_closed = False
        self._sequence: int = connection.execute("SELECT last FROM sequence WHERE name = 'commit'").get
        self._thread = threading.Thread(target=self._run, name="sqlite-writer", daemon=True)

    def start(self) -> None:
        """Begin to work. From here on the connection is the thread's."""
        self._thread.start()

    async def run(self, work: Work[T]) -> T:
        """Carry out a job in the next group; returns after its COMMIT.

        Cancelling the caller keeps a job that still stands in line from being carried out; later it changes nothing.
        """
        if self._is_closed:
            raise EngineClosed("The engine was closed.")
        future: asyncio.Future[T] = self._loop.create_future()
        self._line.put(_Job(work, future))
        return await future

    async def run_in_parts(self, work: Work[int]) -> int:
        """Carry out a job that removes rows, part by part, until a part is not full. Others get their turn in between."""
        total = 0
        while True:
            removed = await self.run(work)
            total += removed
            if removed < ROWS_AT_A_TIME:
                return total

    async def close(self) -> None:
        """Finish what was handed over, then end the thread and close the connection."""
        if not self._is_closed:
            self._is_closed = True
            self._line.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        is_open = True
        while is_open:
            group, is_open = self._take_group()
            if group:
                outcome = self._commit_group(group)
                self._loop.call_soon_threadsafe(self._hand_back, group, outcome)
                self._checkpoint_if_long()
        close_quietly(self._connection, self._path)

    def _note_log(self, connection: apsw.Connection, database: str, pages: int) -> int:
        """A commit has been written. One that had nothing to write says nothing of the disk, and does not come here."""
        self._log_pages = pages
        self.trouble = None
        return apsw.SQLITE_OK

    def _checkpoint_if_long(self) -> None:
        """Bring the log into the file once it is long. A log that stays is longer next time, and is tried again then."""
        if self._log_pages < self._checkpoint_pages:
            return
        self._log_pages = 0
        try:
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except apsw.Error as exc:
            _log.warning("checkpoint_failed", path=str(self._path), error=str(exc))

    def _take_group(self) -> tuple[list[_Job[Any]], bool]:
        """Wait for one job, then take what else stands in line. False as the second value ends the writer."""
        group: list[_Job[Any]] = []
        job = self._line.get()
        while job is not None:
            group.append(job)
            if len(group) == self._group_limit:
                return group, True
            try:
                job = self._line.get_nowait()
            except Empty:
                return group, True
        return group, False

    def _commit_group(self, group: list[_Job[Any]]) -> GroupOutcome:
        transaction = Transaction(self._connection, 0, max_attempts=self._max_attempts, sequence=self._sequence)
        is_committing = False
        try:
            transaction.now_ms = self._clock.now_ms()
            self._connection.execute("BEGIN IMMEDIATE")
            settle_timers(self._connection, now_ms=transaction.now_ms, max_attempts=self._max_attempts)
            for job in group:
                if not job.future.cancelled():
                    self._carry_out(job, transaction)
            if transaction.sequence != self._sequence:
                self._connection.execute(_SET_SEQUENCE, (transaction.sequence,))
            is_committing = True
            self._connection.execute("COMMIT")
        except BaseException as exc:  # whatever it is, every caller hears of it and the writer goes on
            self._fail_group(group, exc, transaction=transaction, is_committing=is_committing)
            return GroupOutcome(None, has_arrivals=False)
        finally:
            # A number that was handed out is never handed out again, not even if its group failed.
            self._sequence = transaction.sequence
        self.counts.jobs += len(group)
        self.counts.groups += 1
        return GroupOutcome(transaction.last_event, transaction.has_arrivals)

    def _carry_out(self, job: _Job[Any], transaction: Transaction) -> None:
        """Run one job under a savepoint. Raises only if SQLite gave up the whole transaction."""
        try:
            with transaction.savepoint("job"):
                job.result = job.work(transaction)
        except apsw.Error as exc:
            if not self._connection.in_transaction:
                raise
            job.error = translate_refusal(exc, self._path)
        except Exception as exc:  # whatever a job raises is its caller's to see, and must not end the writer
            job.error = exc

    def _fail_group(
        self, group: list[_Job[Any]], error: BaseException, *, transaction: Transaction, is_committing: bool
    ) -> None:
        """Nothing of the group was written. What its jobs found in each other's writes is void, too."""
        failure = (
            translate_refusal(error, self._path)
            if isinstance(error, apsw.Error)
            else StoreUnavailable(f"The write to {self._path} failed: {error!r}.")
        )
        self._roll_back()
        is_doubtful = is_committing and not isinstance(error, _REFUSED_WHOLE)
        if is_doubtful and not self._bury_remains(transaction):
            failure = CommitUnknown(
                f"{failure.message} The write had begun, and may be there after a restart. Look before trying again."
            )
        self.trouble = failure
        for job in group:
            job.error = job.error if isinstance(job.error, InvalidInput) else failure

    def _roll_back(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except apsw.Error:
            _log.exception("rollback_failed", path=str(self._path))  # the next BEGIN fails, and comes here again

    def _bury_remains(self, transaction: Transaction) -> bool:
        """Commit next to nothing in place of what a COMMIT that failed left in the log. Says whether that succeeded."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute(_SET_SEQUENCE, (transaction.next_sequence(),))
            self._connection.execute("COMMIT")
        except apsw.Error as exc:
            _log.error("commit_doubtful", path=str(self._path), error=str(exc))
            self._roll_back()
            return False
        return True

    def _hand_back(self, group: list[_Job[Any]], outcome: GroupOutcome) -> None:
        try:
            self._on_group(outcome)
        finally:
            for job in group:
                if job.future.done():
                    continue
                if job.error is not None:
                    job.future.set_exception(job.error)
                else:
                    job.future.set_result(job.result)
