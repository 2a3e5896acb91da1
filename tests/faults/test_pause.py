"""A worker that is stopped (SIGSTOP) past its leases and goes on: what it still does with old leases is refused."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.engines import ENGINES
from tests.faults.figures import Tell
from tests.faults.worker_child import WorkMode
from tests.faults.working import Workers, pause_children

LEASE_S = 1.0
PAUSES_A_CHILD = 3
"""Fewer than a message has attempts, so that no message is a dead letter because of us."""
MESSAGES = 40
BATCHES = 2
MOST_TRIES = 5
LONGEST_WAIT_S = 0.5


async def pause_once(
    folder: Path, engine: str, chance: random.Random, *, mode: WorkMode = WorkMode.FENCED
) -> tuple[dict[str, object], Counter[str]]:
    """One child, paused a few times: what is wrong in the end, and what was said and done how often."""
    items = [f"item-{number}" for number in range(MESSAGES)]
    with ENGINES[engine].make_store(folder) as location:
        workers = Workers(ENGINES[engine], location, folder, LEASE_S, BATCHES)
        await workers.send(items)
        waits_s = [chance.uniform(0, LONGEST_WAIT_S) for _ in range(PAUSES_A_CHILD)]
        paused = pause_children(workers, pauses=waits_s, mode=mode)
        outcome = await workers.outcome()
    counts = Counter(line.split()[0] for line in workers.said.elements())
    counts["pauses"] = paused
    return outcome.faults(items), counts


async def pause_often(folder: Path, engine: str, *, pauses: int, seed: int, tell: Tell) -> None:
    chance, said = random.Random(seed), Counter[str]()
    children = 0
    while said["pauses"] < pauses:
        children += 1
        faults, counts = await pause_once(folder / f"{children}", engine, chance)
        assert faults == {}, f"child {children} of seed {seed}"
        said += counts
    assert said["refused"] > 0
    tell(
        f"SIGSTOP past the lease, {engine}: {said['pauses']} pauses, {said['refused']} late effects refused, "
        f"{children * MESSAGES} messages with {said['done']} effects; 0 lost, 0 double"
    )


@pytest.mark.parametrize("engine", ENGINES)
async def test_late_effects_are_refused__when_a_worker_was_paused(tmp_path: Path, engine: str, tell: Tell) -> None:
    await pause_often(tmp_path, engine, pauses=3, seed=1, tell=tell)


@pytest.mark.faults
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("engine", ENGINES)
async def test_late_effects_are_refused__when_workers_were_paused_50_times(
    tmp_path: Path, engine: str, tell: Tell
) -> None:
    await pause_often(tmp_path, engine, pauses=50, seed=2, tell=tell)


@pytest.mark.parametrize("engine", ENGINES)
async def test_pause_test_finds_fault__when_effects_are_not_fenced(tmp_path: Path, engine: str) -> None:
    """The planted fault: the effect is committed without the lease."""
    for attempt in range(MOST_TRIES):
        faults, _ = await pause_once(tmp_path / f"{attempt}", engine, random.Random(attempt), mode=WorkMode.UNFENCED)
        if "double_effects" in faults:
            return
    pytest.fail(f"{MOST_TRIES * PAUSES_A_CHILD} pauses and no effect twice")
