"""Where a machine plays: one engine, one clock that stands still and one event loop, driven from synchronous rules.

A machine gets a fresh stage for every example. A `Plant` puts a fault between the machine and the engine, so that a test
can show that the machine would have seen it.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from vskill_platform.domain.errors import VskillError
from vskill_platform.engines.memory import open_memory
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.engine import Engine
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.postgres_server import empty_database

T = TypeVar("T")
Plant = Callable[[Engine], Engine]

_IN_MEMORY = Path("/dev/shm")

ORDINARY = settings(
    max_examples=50,
    stateful_step_count=50,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow],
)
"""How far a machine goes in the ordinary run."""

LONG = settings(ORDINARY, max_examples=4000)
"""How far it goes in `make faults`."""

ON_SERVER = [
    pytest.param(settings(ORDINARY, max_examples=6), id="few"),
    pytest.param(settings(ORDINARY, max_examples=240), marks=pytest.mark.faults, id="many"),
]
"""How far it goes on a database server, where a step is a round trip, in the ordinary run and in `make faults`."""

_UNTIL_FOUND = settings(
    ORDINARY, max_examples=2000, database=None, phases=(Phase.generate,), report_multiple_bugs=False
)


class Disagreement(AssertionError):
    """The engine did not do what the model says."""


def agree(what: str, got: object, expected: object) -> None:
    """Raise Disagreement unless the two are equal."""
    if got != expected:
        raise Disagreement(f"{what}: got {got!r}, expected {expected!r}")


def leave_alone(engine: Engine) -> Engine:
    """Plant nothing."""
    return engine


class Stage:
    """An engine on a clock: `engine` as it is played with, `sound` the same without any planted fault, to look at.

    `run` carries out what a rule awaits; tasks that it starts live on between rules.
    """

    def __init__(self, *, max_attempts: int, plant: Plant = leave_alone) -> None:
        self.clock = FakeClock()
        self.folder = Path(tempfile.mkdtemp(prefix="vskill-machine-", dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None))
        self._max_attempts = max_attempts
        self._plant = plant
        self._runner = asyncio.Runner()
        self.sound = self.run(self._open_engine())
        self.engine = plant(self.sound)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Await on the stage's own loop."""
        return self._runner.get_loop().run_until_complete(work)

    def close(self) -> None:
        """End every task, the engine and the loop, and remove the files."""
        self.run(self.sound.close())
        self._runner.close()
        shutil.rmtree(self.folder)

    async def _open_engine(self) -> Engine:
        raise NotImplementedError

    def reopen(self) -> None:
        """Close the engine and open what it left, as the next process does."""
        raise NotImplementedError


class MemoryStage(Stage):
    """The memory engine. What it holds cannot be opened again."""

    async def _open_engine(self) -> Engine:
        return await open_memory(clock=self.clock, max_attempts=self._max_attempts)


class SqliteStage(Stage):
    """The SQLite engine on a file of its own."""

    async def _open_engine(self) -> Engine:
        path = self.folder / "registry.db"
        return await open_sqlite(path, clock=self.clock, max_attempts=self._max_attempts, synchronous="OFF")

    def reopen(self) -> None:
        """Close the file and open it again."""
        self.run(self.sound.close())
        self.sound = self.run(self._open_engine())
        self.engine = self._plant(self.sound)


class PostgresStage(Stage):
    """The PostgreSQL engine on a database that is emptied for every stage. Leases outlive the process that took them."""

    url: ClassVar[str] = ""

    async def _open_engine(self) -> Engine:
        await empty_database(self.url)
        return await self._connect()

    async def _connect(self) -> Engine:
        return await open_postgres(
            self.url, clock=self.clock, max_attempts=self._max_attempts, uses_database_time=False
        )

    def reopen(self) -> None:
        """Disconnect, and connect again."""
        self.run(self.sound.close())
        self.sound = self.run(self._connect())
        self.engine = self._plant(self.sound)


class Machine(RuleBasedStateMachine):
    """A stage, and steps that are counted.

    A machine has one rule, which takes a step of any kind. Rules of their own for each kind would read better, but
    hypothesis switches rules off at random for a whole example, and with eight of them every third example only lets
    time pass. What matters here takes writes, reads, failures and time together.
    """

    stage_type: ClassVar[type[Stage]] = MemoryStage

    def __init__(self, *, max_attempts: int, plant: Plant = leave_alone) -> None:
        super().__init__()
        self.stage = self.stage_type(max_attempts=max_attempts, plant=plant)
        self.steps = 0

    def teardown(self) -> None:
        self.stage.close()

    @property
    def now_ms(self) -> int:
        return self.stage.clock.now_ms()

    def take_step(self, step: Any) -> None:
        """Count a step and play it. An error that the step does not expect is a disagreement too."""
        self.steps += 1
        try:
            self.play(step)
        except VskillError as error:
            raise Disagreement(f"{step} raised {error!r}") from error

    def play(self, step: Any) -> None:
        """Do what the step says, to the engine and to the model."""
        raise NotImplementedError


def explore(machine: type[RuleBasedStateMachine], how_far: settings) -> None:
    """Walk the machine. Raises with the shortest walk that disagrees."""
    run_state_machine_as_test(machine, settings=how_far)


def explore_until_found(make_machine: Callable[[], RuleBasedStateMachine]) -> None:
    """Walk a machine with a planted fault until the first disagreement, without looking for a shorter one."""
    factory = cast("type[RuleBasedStateMachine]", make_machine)  # hypothesis takes anything that makes one
    run_state_machine_as_test(factory, settings=_UNTIL_FOUND)
