"""The writer: a line in which callers' commits and pulls wait, and a few lanes that take them in batches.

While the lanes are busy the line grows, so batches grow with the load and a busy process needs few transactions. Nobody hears
of success before his batch is committed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from vskill_platform.domain.errors import EngineClosed, StoreUnavailable, VskillError
from vskill_platform.engines.postgres.batch import Answer, Batch, Outcome, Pull, Unit
from vskill_platform.engines.postgres.lane import Lane
from vskill_platform.ports.commit import Committed, Operation, Release, Requeue, Restore, Retry, Send
from vskill_platform.ports.queue import Message

BATCH_LIMIT = 256
"""How many callers' jobs a batch takes."""
_OPERATIONS_LIMIT = 10_000
_BYTES_LIMIT = 8 * 1024 * 1024


@dataclass(slots=True)
class JobOutcome:
    """What became of a caller's commits, and the messages that he pulled."""

    outcomes: list[Outcome]
    messages: list[Message]


@dataclass(slots=True)
class _Job:
    units: Sequence[Unit]
    pull: Pull | None
    future: asyncio.Future[JobOutcome]


@dataclass(slots=True)
class WriterCounts:
    """How the writer has been working, for benchmarks and metrics."""

    jobs: int = 0
    batches: int = 0


@dataclass(frozen=True, slots=True)
class BatchNews:
    """What a batch did that others may be waiting for."""

    has_arrivals: bool
    last_event: int | None


@dataclass(slots=True)
class Writer:
    """Hands jobs to the lanes and their outcomes back."""

    lanes: Sequence[Lane]
    on_batch: Callable[[BatchNews], None]
    batch_limit: int = BATCH_LIMIT
    counts: WriterCounts = field(default_factory=WriterCounts)
    _line: deque[_Job] = field(default_factory=deque)
    _idle: deque[Lane] = field(default_factory=deque)
    _working: set[asyncio.Task[None]] = field(default_factory=set)
    _is_closed: bool = False

    def __post_init__(self) -> None:
        self._idle.extend(self.lanes)

    async def run(self, units: Sequence[Unit], pull: Pull | None = None) -> JobOutcome:
        """Carry commits and a pull out in the next batch.

        Cancelling the caller keeps a job that still stands in line from being carried out; later it changes nothing.
        """
        if self._is_closed:
            raise EngineClosed("The engine was closed.")
        job = _Job(units, pull, asyncio.get_running_loop().create_future())
        self._line.append(job)
        self._start_lane()
        return await job.future

    async def close(self) -> None:
        """Finish what was handed over, then close the lanes."""
        self._is_closed = True
        while self._working:
            await asyncio.wait(self._working)
        await asyncio.gather(*(lane.close() for lane in self.lanes))

    def _start_lane(self) -> None:
        if self._idle and self._line:
            task = asyncio.create_task(self._work(self._idle.popleft()))
            self._working.add(task)
            task.add_done_callback(self._working.discard)

    async def _work(self, lane: Lane) -> None:
        """Take batches until the line is empty."""
        while jobs := self._take_jobs():
            await self._carry_out(lane, jobs)
        self._idle.appendleft(lane)

    def _take_jobs(self) -> list[_Job]:
        jobs: list[_Job] = []
        operations = 0
        size = 0
        while self._line and len(jobs) < self.batch_limit and operations < _OPERATIONS_LIMIT and size < _BYTES_LIMIT:
            job = self._line.popleft()
            if job.future.cancelled():
                continue
            jobs.append(job)
            operations += sum(len(unit.operations) for unit in job.units)
            size += sum(_size(operation) for unit in job.units for operation in unit.operations)
        return jobs

    async def _carry_out(self, lane: Lane, jobs: Sequence[_Job]) -> None:
        try:
            answer = await lane.carry_out(_batch(jobs))
        except VskillError as error:
            _fail(jobs, error)
        except Exception as error:
            _fail(jobs, StoreUnavailable(f"The write failed: {error!r}."))
        else:
            self.counts.jobs += len(jobs)
            self.counts.batches += 1
            self.on_batch(_news(jobs, answer))
            _hand_back(jobs, answer)


def _batch(jobs: Sequence[_Job]) -> Batch:
    batch = Batch(pulls=[job.pull for job in jobs if job.pull is not None])
    for job in jobs:
        for unit in job.units:
            batch.add(unit)
    return batch


def _size(operation: Operation) -> int:
    return len(getattr(operation, "value", b"")) + len(getattr(operation, "body", b""))


def _hand_back(jobs: Sequence[_Job], answer: Answer) -> None:
    outcomes = iter(answer.outcomes)
    pulled = iter(answer.pulled)
    for job in jobs:
        outcome = JobOutcome([next(outcomes) for _ in job.units], next(pulled) if job.pull is not None else [])
        if not job.future.done():
            job.future.set_result(outcome)


def _fail(jobs: Sequence[_Job], error: VskillError) -> None:
    for job in jobs:
        if not job.future.done():
            job.future.set_exception(type(error)(error.message, **error.fields))


def _news(jobs: Sequence[_Job], answer: Answer) -> BatchNews:
    units = (unit for job in jobs for unit in job.units)
    arrivals = Send | Retry | Release | Requeue | Restore
    has_arrivals = any(
        isinstance(outcome, Committed) and any(isinstance(o, arrivals) for o in unit.operations)
        for unit, outcome in zip(units, answer.outcomes, strict=True)
    )
    return BatchNews(has_arrivals, answer.last_event)
