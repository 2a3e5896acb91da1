"""`kill -9` in the middle of a mixed load: nothing that was acknowledged is lost, and nothing is there that nobody wrote."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.faults.checker import Journal
from tests.faults.killing import load_and_kill
from tests.faults.load_child import Mode
from tests.faults.looking import judge_file

MOST_TURNS = 20
TURNS_A_FILE = 5
"""The same file is killed and opened again so often, so that what one kill leaves is what the next one finds."""


def kill_often(folder: Path, *, kills: int, seed: int) -> int:
    """Kill so many times, judging each time. Returns how many deeds were acknowledged."""
    moments = random.Random(seed)
    acknowledged = 0
    for first in range(0, kills, TURNS_A_FILE):
        path, journal = folder / f"{first}" / "registry.db", Journal()
        path.parent.mkdir()
        for turn in range(first, min(first + TURNS_A_FILE, kills)):
            load_and_kill(path, journal, turn=turn, moments=moments)
            assert judge_file(path, journal).faults == {}, f"after kill {turn} of seed {seed}"
        acknowledged += len(journal.acknowledged)
    return acknowledged


def test_engine_keeps_what_it_acknowledged__when_killed(tmp_path: Path) -> None:
    assert kill_often(tmp_path, kills=10, seed=1) > 0


@pytest.mark.faults
@pytest.mark.timeout(3600)
def test_engine_keeps_what_it_acknowledged__when_killed_200_times(tmp_path: Path) -> None:
    assert kill_often(tmp_path, kills=200, seed=2) > 0


@pytest.mark.parametrize(("mode", "fault"), [(Mode.LIAR, "lost"), (Mode.SPLITTER, "double_effects")])
def test_kill_test_finds_fault__when_load_plants_it(tmp_path: Path, mode: Mode, fault: str) -> None:
    """The test can fail: `ok` said before it is so, and an effect apart from its Ack, are found out."""
    path, journal, moments = tmp_path / "registry.db", Journal(), random.Random(3)
    for turn in range(MOST_TURNS):
        load_and_kill(path, journal, turn=turn, moments=moments, mode=mode)
        if fault in judge_file(path, journal).faults:
            return
    pytest.fail(f"{len(journal.acknowledged)} acknowledgements, {MOST_TURNS} kills and no {fault}")
