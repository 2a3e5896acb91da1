"""Two crons at once, clocks that differ and clocks that jump: every submission that is lost is moved once, and no other."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.running import inside
from tests.acceptance.test_cron import running
from tests.faults.engines import ENGINES
from tests.faults.figures import Tell
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE, ProcessSubmission, decode_message
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.submission import SubmissionState, Trigger
from vskill_platform.ports.commit import Bury, CheckStatus, Committed, Operation
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.queue import MessageInfo
from vskill_platform.stores.submissions import get_history, get_submission
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.submissions import submit
from vskill_platform.testing.waits import eventually
from vskill_platform.worker.cron import Cron
from vskill_platform.worker.recovery import sweep_stuck_submissions

HOUR_S, SKEW_S, STUCK_S = 3600.0, 300.0, 360.0
ITEMS_EACH = 6
STEPS = 12
SHORT_STEP_S, LONG_STEP_S = 5.0, 90.0
REAL_LIMIT_S = 60.0
_STATUSES = (MessageStatus.WAITING, MessageStatus.DELAYED, MessageStatus.LEASED, MessageStatus.DEAD)


class Trouble(StrEnum):
    """What is wrong with the clocks."""

    NOTHING = "clocks agree"
    SKEW = "5 minutes of skew"
    ONE_FORWARD = "one jumps an hour forward"
    ONE_BACK = "one jumps an hour back"
    ALL_FORWARD = "all jump an hour forward"
    ALL_BACK = "all jump an hour back"


class Fate(StrEnum):
    """What has become of the message of a submission."""

    LOST = "lost"
    WAITING = "waiting"
    LEASED = "leased"
    DEAD = "dead"


@dataclass
class SkewedClock:
    """The clock of one machine: the common one, and by how much it is wrong."""

    common: FakeClock
    wrong_by_s: float = 0.0

    def now_ms(self) -> int:
        return self.common.now_ms() + int(self.wrong_by_s * 1000)

    async def sleep(self, seconds: float) -> None:
        await self.common.sleep(seconds)

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[asyncio.Timeout]:
        return self.common.timeout(seconds)


@dataclass
class Stage:
    """Two machines over one engine, whose clock is the common one."""

    clock: FakeClock
    engine: Engine
    envs: Sequence[WorkerEnv]
    clocks: Sequence[SkewedClock]
    items: dict[str, Fate] = field(default_factory=dict)

    async def fill(self) -> None:
        """Submissions of every fate, all of them old enough to look stuck."""
        for fate in (Fate.LEASED, Fate.DEAD, Fate.LOST, Fate.WAITING):
            for _ in range(ITEMS_EACH):
                await self.add(fate)
        await self.clock.advance(STUCK_S)

    async def add(self, fate: Fate) -> None:
        """One more submission, by the machine whose clock is right."""
        submission = await inside(self.envs[0], lambda: submit(f"{fate}-{len(self.items)}"))
        self.items[submission.id] = fate
        await self._meet(fate, MessageId(submission.message_id or ""))

    async def end(self) -> None:
        """Let so much time pass that whatever is lost looks stuck by every clock, and sweep once more."""
        self.clock.shift(2 * HOUR_S + STUCK_S)
        await self.sweep_together()
        await self.sweep_together()

    async def _meet(self, fate: Fate, message: MessageId) -> None:
        if fate is Fate.LOST:
            await self.engine.queue.drop([message], reason="lost on purpose")
        elif fate is not Fate.WAITING:
            [held] = await self.engine.queue.receive(SUBMISSIONS_QUEUE, max_messages=1, lease_s=HOUR_S)
            if fate is Fate.DEAD:
                await self.engine.writes.commit([Bury(held.lease, "hopeless")])

    def disturb(self, trouble: Trouble) -> None:
        """Let the clocks go wrong."""
        match trouble:
            case Trouble.SKEW:
                self.clocks[0].wrong_by_s, self.clocks[1].wrong_by_s = SKEW_S / 2, -SKEW_S / 2
            case Trouble.ONE_FORWARD:
                self.clocks[1].wrong_by_s = HOUR_S
            case Trouble.ONE_BACK:
                self.clocks[1].wrong_by_s = -HOUR_S
            case Trouble.ALL_FORWARD:
                self.clock.shift(HOUR_S)
            case Trouble.ALL_BACK:
                self.clock.shift(-HOUR_S)

    async def pass_time(self, seconds: float) -> None:
        """Let time pass while both crons run, no faster than they can ask the store and go back to sleep."""
        while seconds > 0:
            await self._let_crons_sleep()
            await self.clock.advance(min(seconds, SHORT_STEP_S))
            seconds -= SHORT_STEP_S
        await self._let_crons_sleep()

    async def _let_crons_sleep(self) -> None:
        await eventually(
            lambda: self.clock.sleepers >= len(self.envs), what="all crons sleep", limit_s=REAL_LIMIT_S, look_s=0.001
        )

    async def sweep_together(self) -> None:
        """Both machines sweep at the same moment, as if each held the lease."""
        await asyncio.gather(*(inside(env, sweep_stuck_submissions) for env in self.envs))

    async def faults(self) -> list[str]:
        """What is wrong with any submission: moved when it should not be, not moved, moved twice, more or fewer messages."""
        messages = Counter[str]()
        for status in _STATUSES:
            page = await self.engine.queue.peek(SUBMISSIONS_QUEUE, status=status, limit=1000)
            messages.update(_submission_of(info) for info in page.messages)
        found: list[str] = []
        for identity, fate in self.items.items():
            submission = (await inside(self.envs[0], lambda id=identity: get_submission(id))).submission
            history = await inside(self.envs[0], lambda id=identity: get_history(id))
            triggers = Counter(entry.trigger for entry in history)
            recovered, rejected = triggers[Trigger.RECOVERED], triggers[Trigger.DELIVERY_EXHAUSTED]
            expected = {Fate.LOST: (1, 0), Fate.DEAD: (0, 1)}.get(fate, (0, 0))
            if (recovered, rejected) != expected:
                found.append(f"{fate}: sent again {recovered} times, rejected {rejected} times")
            if messages[identity] != 1:
                found.append(f"{fate}: {messages[identity]} messages")
            if (submission.state is SubmissionState.REJECTED) != (fate is Fate.DEAD):
                found.append(f"{fate}: {submission.state}")
        return found


def _submission_of(info: MessageInfo) -> str:
    task = decode_message(info.body)
    assert isinstance(task, ProcessSubmission)
    return task.submission_id


@asynccontextmanager
async def staged(folder: Path, engine: str) -> AsyncIterator[Stage]:
    clock = FakeClock()
    with ENGINES[engine].make_store(folder) as location:
        opened = await ENGINES[engine].open(location, clock)
        clock.wait_for_threads_of(opened)
        clocks = [SkewedClock(clock), SkewedClock(clock)]
        envs = [make_env(opened, clock=own, folder=folder) for own in clocks]
        yield Stage(clock, opened, envs, clocks)
        await opened.close()


async def play(folder: Path, engine: str, trouble: Trouble, chance: random.Random) -> list[str]:
    """Both crons run, the clocks go wrong at some moment, and now and then both sweep at once."""
    async with staged(folder, engine) as stage:
        await stage.fill()
        crons = [Cron(env) for env in stage.envs]
        disturbed_at = chance.randrange(STEPS)
        faults: list[str] = []
        async with running(*crons):
            for step in range(STEPS):
                if step == disturbed_at:
                    stage.disturb(trouble)
                await stage.add(Fate.LOST)
                await stage.pass_time(chance.uniform(SHORT_STEP_S, LONG_STEP_S))
                if chance.random() < 0.5:
                    await stage.sweep_together()
                if trouble in (Trouble.NOTHING, Trouble.SKEW) and all(cron.is_holder for cron in crons):
                    faults.append("both hold the lease")
        await stage.end()
        return faults + await stage.faults()


async def play_all(
    folder: Path, engine: str, *, runs: int, tell: Tell, troubles: Sequence[Trouble] = tuple(Trouble)
) -> None:
    for trouble in troubles:
        for run in range(runs):
            faults = await play(folder / f"{trouble}-{run}", engine, trouble, random.Random(run))
            assert faults == [], f"{trouble}, run {run}"
    plays = runs * len(troubles)
    tell(
        f"two crons, {engine}: {runs} runs each of {len(troubles)} kinds of clocks, {plays * (ITEMS_EACH * 4 + STEPS)} "
        f"submissions, of which {plays * (ITEMS_EACH + STEPS)} lost; each of these sent again once, no other moved"
    )


RUNS = {"sqlite": 20, "postgres": 5}
SMOKE = {"sqlite": tuple(Trouble), "postgres": (Trouble.SKEW, Trouble.ALL_BACK)}


@pytest.mark.parametrize("engine", ENGINES)
async def test_each_item_is_moved_once__when_two_crons_run_and_clocks_are_wrong(
    tmp_path: Path, engine: str, tell: Tell
) -> None:
    await play_all(tmp_path, engine, runs=1, tell=tell, troubles=SMOKE[engine])


@pytest.mark.faults
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("engine", ENGINES)
async def test_each_item_is_moved_once__when_two_crons_run_and_clocks_are_wrong_many_times(
    tmp_path: Path, engine: str, tell: Tell
) -> None:
    await play_all(tmp_path, engine, runs=RUNS[engine], tell=tell)


class BlindQueue:
    """A queue that knows of no message when it is asked: what is old then looks lost."""

    def __init__(self, queue: object) -> None:
        self._queue = queue

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)

    async def find(self, ids: Sequence[MessageId]) -> dict[MessageId, MessageInfo]:
        return {}


class UncheckedWrites:
    """Writes that are not held to what the queue has said."""

    def __init__(self, writes: Any) -> None:
        self._writes = writes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writes, name)

    async def commit(self, operations: Sequence[Operation]) -> Committed:
        kept = [operation for operation in operations if not isinstance(operation, CheckStatus)]
        done: Committed = await self._writes.commit(kept)
        return done


@pytest.mark.parametrize("engine", ENGINES)
async def test_checker_finds_fault__when_rescue_is_by_time_only(tmp_path: Path, engine: str) -> None:
    """The planted fault: a sweep that sends again whatever is old, without asking the queue."""
    async with staged(tmp_path, engine) as stage:
        await stage.fill()
        env = stage.envs[0]
        blind: Any = replace(env, queue=BlindQueue(env.queue), writes=UncheckedWrites(env.writes))  # type: ignore[arg-type]
        await inside(blind, sweep_stuck_submissions)
        faults = Counter(await stage.faults())
    assert faults[f"{Fate.WAITING}: 2 messages"] == faults[f"{Fate.LEASED}: 2 messages"] == ITEMS_EACH
