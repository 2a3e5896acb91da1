"""`kill -9` in the middle of a mixed load: nothing that was acknowledged is lost, and nothing is there that nobody wrote."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.faults.checker import Journal
from tests.faults.engines import ENGINES
from tests.faults.figures import Tell
from tests.faults.killing import Store, load_and_kill
from tests.faults.load_child import Mode
from tests.faults.looking import judge_store

MOST_TURNS = 20
SMOKE = {"sqlite": 10, "postgres": 3}
COUNTS = {"sqlite": 200, "postgres": 60}
TURNS_A_STORE = 5
"""The same store is killed and opened again so often, so that what one kill leaves is what the next one finds."""


def kill_often(folder: Path, engine: str, *, kills: int, seed: int, tell: Tell) -> None:
    """Kill so many times, judging each time."""
    moments = random.Random(seed)
    acknowledged = recovered = 0
    for first in range(0, kills, TURNS_A_STORE):
        place, journal = folder / f"{first}", Journal()
        with ENGINES[engine].make_store(place) as location:
            store = Store(ENGINES[engine], location, place)
            for turn in range(first, min(first + TURNS_A_STORE, kills)):
                load_and_kill(store, journal, turn=turn, moments=moments)
                verdict = judge_store(store, journal)
                assert verdict.faults == {}, f"after kill {turn} of seed {seed}"
        acknowledged += len(journal.acknowledged)
        recovered += len(verdict.recovered)
    assert acknowledged > 0
    tell(
        f"kill -9 of a load, {engine}: {kills} kills, {acknowledged} commits acknowledged; 0 lost, 0 unexpected, 0 half, "
        f"{recovered} there without having been acknowledged"
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_engine_keeps_what_it_acknowledged__when_killed(tmp_path: Path, engine: str, tell: Tell) -> None:
    kill_often(tmp_path, engine, kills=SMOKE[engine], seed=1, tell=tell)


@pytest.mark.faults
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("engine", ENGINES)
def test_engine_keeps_what_it_acknowledged__when_killed_many_times(tmp_path: Path, engine: str, tell: Tell) -> None:
    kill_often(tmp_path, engine, kills=COUNTS[engine], seed=2, tell=tell)


@pytest.mark.parametrize(("mode", "fault"), [(Mode.LIAR, "lost"), (Mode.SPLITTER, "double_effects")])
def test_kill_test_finds_fault__when_load_plants_it(tmp_path: Path, mode: Mode, fault: str) -> None:
    """The test can fail: `ok` said before it is so, and an effect apart from its Ack, are found out."""
    store = Store(ENGINES["sqlite"], str(tmp_path / "registry.db"), tmp_path)
    journal, moments = Journal(), random.Random(3)
    for turn in range(MOST_TURNS):
        load_and_kill(store, journal, turn=turn, moments=moments, mode=mode)
        if fault in judge_store(store, journal).faults:
            return
    pytest.fail(f"{len(journal.acknowledged)} acknowledgements, {MOST_TURNS} kills and no {fault}")
