"""A message that kills its worker with 29 others in flight: a dead letter after four attempts, and all others done."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.engines import ENGINES
from tests.faults.figures import Tell
from tests.faults.worker_child import BATCH_SIZE, POISON
from tests.faults.working import Workers, work_to_the_end
from vskill_platform.domain.delivery import MAX_ATTEMPTS

LEASE_S = 2.0
BATCHES = 10
PLACES = BATCHES * BATCH_SIZE


async def poison_once(folder: Path, engine: str) -> int:
    """One poison among as many as there are places; says how many children it has killed."""
    items = [POISON, *(f"item-{number}" for number in range(PLACES - 1))]
    with ENGINES[engine].make_store(folder) as location:
        workers = Workers(ENGINES[engine], location, folder, LEASE_S, BATCHES)
        await workers.send(items)
        died = work_to_the_end(workers, most=MAX_ATTEMPTS + 2)
        outcome = await workers.outcome()
    assert outcome.faults(items, expected_dead=[POISON]) == {}
    [dead] = outcome.dead
    assert (dead.attempts, workers.said[f"begin {POISON} {MAX_ATTEMPTS}"]) == (MAX_ATTEMPTS, 1)
    assert sum(workers.said[f"begin {POISON} {attempt}"] for attempt in range(1, 10)) == MAX_ATTEMPTS
    assert not any(workers.said[f"begin {item} 3"] for item in items if item != POISON)
    return died


async def poison_often(folder: Path, engine: str, *, runs: int, tell: Tell) -> None:
    died = [await poison_once(folder / f"{run}", engine) for run in range(runs)]
    tell(
        f"poison, {engine}: {runs} runs of 1 poison and {PLACES - 1} others, {sum(died)} processes killed; dead letter "
        f"after {MAX_ATTEMPTS} attempts in {runs}, {runs * (PLACES - 1)} others done once each, in 2 attempts at most"
    )


@pytest.mark.parametrize("engine", ENGINES)
async def test_poison_is_a_dead_letter__and_all_others_are_done(tmp_path: Path, engine: str, tell: Tell) -> None:
    await poison_often(tmp_path, engine, runs=1, tell=tell)


@pytest.mark.faults
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("engine", ENGINES)
async def test_poison_is_a_dead_letter__and_all_others_are_done_20_times(
    tmp_path: Path, engine: str, tell: Tell
) -> None:
    await poison_often(tmp_path, engine, runs=20, tell=tell)
