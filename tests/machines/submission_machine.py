"""The machine for the submission states: real deliveries and real sweeps, in every order, with every kind of failure."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar
from uuid import UUID

from hypothesis.stateful import invariant, rule

from tests.machines.stage import Disagreement, Machine, Plant, PostgresStage, SqliteStage, agree, leave_alone
from tests.machines.submission_check import World, check_catalog, check_events, check_world, read_records, read_world
from tests.machines.submission_steps import (
    NAMES,
    STEPS,
    STEPS_ON_DISK,
    Begin,
    Deliver,
    Duplicate,
    GoOn,
    Hold,
    Lose,
    Outcome,
    Overtake,
    PassTime,
    Pause,
    Reopen,
    RequeueDead,
    Rerun,
    Resubmit,
    RunToEnd,
    Step,
    Stop,
    Submit,
    Sweep,
    Withdraw,
    WorkLate,
)
from tests.machines.submission_watch import Gate, task_of
from tests.machines.submission_work import Work, again, apart
from vskill_platform.domain.delivery import MAX_ATTEMPTS
from vskill_platform.domain.errors import Conflict, IllegalTransition
from vskill_platform.domain.ids import MessageId, message_id
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE, ProcessSubmission, encode_message
from vskill_platform.domain.records import Submission, advance
from vskill_platform.domain.recovery import STUCK_STATES, STUCK_THRESHOLD_MS, MessageStatus, is_stuck
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.ports.commit import Send
from vskill_platform.ports.env import ProcessMessage, WorkerEnv
from vskill_platform.ports.events import Event
from vskill_platform.ports.queue import MessageBatch
from vskill_platform.stores.pause import pause_queue, resume_queue
from vskill_platform.stores.submissions import Found, get_submission, moving
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.processing import review_everything
from vskill_platform.testing.submissions import submit
from vskill_platform.worker.recovery import sweep_stuck_submissions
from vskill_platform.worker_context import run_with_worker_env

T = TypeVar("T")
COMPARE_EVERY = 8
LEASE_S = 60.0
LONGEST_WAIT_S = 601.0
"""Past every lease, every delay between attempts and the threshold for stuck submissions."""
MOST_ROUNDS = 12


@dataclass
class Hanging:
    """A worker that hangs at its gate."""

    work: Work
    gate: Gate
    task: asyncio.Task[None]


class SubmissionMachine(Machine):
    """Random submissions, deliveries, failures, sweeps and time; what must hold is in `submission_check`."""

    def __init__(self, plant: Plant = leave_alone, process: ProcessMessage = review_everything) -> None:
        super().__init__(max_attempts=MAX_ATTEMPTS, plant=plant)
        self.process = process
        self.numbers = itertools.count(1)
        self.env, self.watch = self._make_envs()
        self.ids: dict[str, str] = {}
        self.held: list[MessageBatch] = []
        self.hanging: list[Hanging] = []
        self.events: list[Event] = []
        for name in NAMES[:2]:
            self.play(Submit(name))

    def play(self, step: Step) -> None:
        if isinstance(step, Reopen):
            self._reopen()
        else:
            self.stage.run(self._play(step))

    @invariant()
    def agrees(self) -> None:
        if self.steps % COMPARE_EVERY == 0:
            self.stage.run(self._compare())

    async def _play(self, step: Step) -> None:
        match step:
            case Submit(name):
                await self._submit(name)
            case Deliver(most, outcomes, settles):
                await self._work(await self._receive(most), outcomes, settles=settles)
            case Hold(most):
                self.held.append(await self._receive(most))
            case WorkLate(number, outcomes) if self.held:
                await self._work(again(_pick(self.held, number)), outcomes)
            case Begin(stop, outcome):
                await self._begin(stop, outcome)
            case GoOn(number) if self.hanging:
                await self._go_on(_pick(self.hanging, number))
            case Overtake(stop, first, second):
                await self._overtake(stop, first, second)
            case Rerun(stop, outcome):
                await self._rerun(stop, outcome)
            case Sweep(after_s, at_once):
                self.stage.clock.shift(after_s)
                await self._sweep(at_once)
            case PassTime(seconds):
                self.stage.clock.shift(seconds)
            case RunToEnd():
                await self._run_to_end()
            case RequeueDead():
                await self._requeue_dead()
            case Pause(is_on):
                await self._in_env(lambda: pause_queue(reason="test", seconds=120) if is_on else resume_queue())
            case Lose(number, times) if self.ids:
                await self._lose(number, times)
            case Duplicate(number) if self.ids:
                submission = (await self._find(number)).submission
                await self.env.writes.commit([self._message(submission, run=submission.run)])
            case Resubmit(number) if self.ids:
                await self._resubmit(await self._find(number))
            case Withdraw(number) if self.ids:
                await self._withdraw(await self._find(number))

    async def _submit(self, name: str) -> None:
        """One submission a name: a second one is refused."""
        try:
            submission = await self._in_env(lambda: submit(name))
        except Conflict:
            agree("whether there is such a submission", name in self.ids, True)
        else:
            agree("whether there was such a submission", name in self.ids, False)
            self.ids[name] = submission.id

    async def _receive(self, most: int) -> MessageBatch:
        messages = await self.env.queue.receive(SUBMISSIONS_QUEUE, max_messages=most, lease_s=LEASE_S)
        return MessageBatch(SUBMISSIONS_QUEUE, messages)

    async def _work(self, batch: MessageBatch, outcomes: Sequence[Outcome], *, settles: bool = True) -> None:
        for part in apart(batch):
            work = Work(part, outcomes, self.process)
            await work.handle(self.env, watch=self.watch)
            if settles:
                await work.settle(self.env)

    async def _begin(self, stop: Stop, outcome: Outcome) -> Hanging | None:
        """A worker that hangs; None if it came to its end without getting there."""
        gate = Gate(stop)
        work = Work(await self._receive(1), [outcome], self.process, gate)
        task = asyncio.create_task(work.handle(self.env, watch=self.watch))
        reached = asyncio.create_task(gate.reached.wait())
        await asyncio.wait({task, reached}, return_when=asyncio.FIRST_COMPLETED)
        reached.cancel()
        worker = Hanging(work, gate, task)
        self.hanging.append(worker)
        if not task.done():
            return worker
        await self._go_on(worker)
        return None

    async def _go_on(self, worker: Hanging) -> None:
        self.hanging.remove(worker)
        worker.gate.opened.set()
        await worker.task
        await worker.work.settle(self.env)

    async def _overtake(self, stop: Stop, first: Outcome, second: Outcome) -> None:
        worker = await self._begin(stop, first)
        self.stage.clock.shift(LEASE_S)
        await self._work(await self._receive(1), [second])
        if worker is not None:
            await self._go_on(worker)

    async def _rerun(self, stop: Stop, outcome: Outcome) -> None:
        worker = await self._begin(stop, outcome)
        if worker is None:
            return
        (identity, _) = task_of(worker.work.batch.messages[0])
        await self._withdraw(await self._in_env(lambda: get_submission(identity)))
        await self._resubmit(await self._in_env(lambda: get_submission(identity)))
        await self._begin(Stop.BEFORE_EFFECT, Outcome.SUCCEED)
        await self._go_on(worker)

    async def _sweep(self, at_once: int) -> None:
        """A sweep moves exactly those that are stuck and whose message is gone or dead, each once."""
        before = await read_world(self.watch)
        reports = await asyncio.gather(*(self._in_env(sweep_stuck_submissions) for _ in range(at_once)))
        after = (await read_records(self.watch)).steps
        lost = {id: 1 for id, submission in before.records.submissions.items() if self._is_lost(submission, before)}
        moved = {id: after[id] - steps for id, steps in before.records.steps.items() if after[id] != steps}
        agree("steps that the sweep took", moved, lost)
        agree("moves that the sweep reports", sum(report.requeued + report.rejected for report in reports), len(lost))
        agree("failures of the sweep", sum(report.failed + report.malformed for report in reports), 0)

    def _is_lost(self, submission: Submission, world: World) -> bool:
        message = world.messages.get(MessageId(submission.message_id or ""))
        is_given_up = message is None or message.status is MessageStatus.DEAD
        return is_given_up and is_stuck(submission.state, updated_ms=submission.updated_ms, now_ms=self.now_ms)

    async def _run_to_end(self) -> None:
        """With sound workers and sweeps, and time, every submission comes to an end."""
        await self._in_env(resume_queue)
        for _ in range(MOST_ROUNDS):
            self.stage.clock.shift(LONGEST_WAIT_S)
            await self._in_env(sweep_stuck_submissions)
            while (batch := await self._receive(10)).messages:
                await self._work(batch, [Outcome.SUCCEED])
            records = await read_records(self.watch)
            if not any(submission.state in STUCK_STATES for submission in records.submissions.values()):
                return
        raise Disagreement(f"not at an end after {MOST_ROUNDS} rounds: {records}")

    async def _requeue_dead(self) -> None:
        page = await self.env.queue.peek(SUBMISSIONS_QUEUE, status=MessageStatus.DEAD)
        await self.env.queue.requeue([info.id for info in page.messages])

    async def _find(self, number: int) -> Found:
        return await self._in_env(lambda: get_submission(_pick(list(self.ids.values()), number)))

    async def _lose(self, number: int, times: int) -> None:
        for _ in range(times):
            found = await self._find(number)
            await self.env.queue.drop([MessageId(found.submission.message_id or "")], reason="lost")
            if times > 1:
                self.stage.clock.shift(STUCK_THRESHOLD_MS / 1000)
                await self._sweep(1)

    async def _resubmit(self, found: Found) -> None:
        send = self._message(found.submission, run=found.submission.run + 1)
        try:
            step = advance(
                found.submission,
                SubmissionState.RECEIVED,
                trigger=Trigger.RESUBMITTED,
                actor=Actor.SUBMITTER,
                now_ms=self.now_ms,
                message="Resubmitted.",
                run=found.submission.run + 1,
                message_id=send.id,
                claim=None,
                recoveries=0,
                reason=None,
            )
        except IllegalTransition:
            return
        await self.env.writes.commit([*moving(found, step), send])

    async def _withdraw(self, found: Found) -> None:
        try:
            step = advance(
                found.submission,
                SubmissionState.DEQUEUED,
                trigger=Trigger.WITHDRAWN,
                actor=Actor.SUBMITTER,
                now_ms=self.now_ms,
                message="Withdrawn.",
                claim=None,
            )
        except IllegalTransition:
            return
        await self.env.writes.commit(moving(found, step))

    def _message(self, submission: Submission, *, run: int) -> Send:
        body = encode_message(ProcessSubmission(submission_id=submission.id, run=run))
        return Send(SUBMISSIONS_QUEUE, message_id(self.env.random_id()), body)

    def _reopen(self) -> None:
        """The workers die with their process; what they held is the next one's to deliver again."""
        self.stage.run(self._kill_workers())
        self.stage.reopen()
        self.env, self.watch = self._make_envs()

    async def _kill_workers(self) -> None:
        tasks = [worker.task for worker in self.hanging]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.hanging.clear()
        self.held.clear()

    async def _compare(self) -> None:
        world = await read_world(self.watch)
        check_world(world)
        await run_with_worker_env(self.watch, lambda: check_catalog(world.records, self.watch))
        last = self.events[-1].sequence if self.events else 0
        self.events.extend((await self.watch.events.read(last)).events)
        check_events(world.records, self.events)

    def _make_envs(self) -> tuple[WorkerEnv, WorkerEnv]:
        """The env that the workers and the sweep have, and one to look at what they did."""
        clock, folder = self.stage.clock, self.stage.folder
        env = make_env(self.stage.engine, clock=clock, folder=folder)
        return replace(env, random_id=self._random_id), make_env(self.stage.sound, clock=clock, folder=folder)

    def _random_id(self) -> UUID:
        return UUID(int=next(self.numbers))

    async def _in_env(self, work: Callable[[], Awaitable[T]]) -> T:
        return await run_with_worker_env(self.env, work)


def _pick(items: Sequence[T], number: int) -> T:
    return items[-1 - number % len(items)]


class SubmissionsOnMemory(SubmissionMachine):
    """On the memory engine."""

    @rule(step=STEPS)
    def take(self, step: Step) -> None:
        self.take_step(step)


class SubmissionsOnSqlite(SubmissionMachine):
    """On a file, whose next process begins where the last one died."""

    stage_type = SqliteStage

    @rule(step=STEPS_ON_DISK)
    def take(self, step: Step) -> None:
        self.take_step(step)


class SubmissionsOnPostgres(SubmissionMachine):
    """On a database server."""

    stage_type = PostgresStage

    @rule(step=STEPS)
    def take(self, step: Step) -> None:
        self.take_step(step)
