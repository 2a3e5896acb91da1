"""Workers that are stopped (SIGSTOP) past their leases with the pipeline's work in hand: each skill is published once."""

from __future__ import annotations

import asyncio
import json
import random
import signal
from pathlib import Path

import pytest

from tests.faults.engines import ENGINES
from tests.faults.figures import Tell
from tests.faults.fleet import LEASE_S, SKILLS, Fleet, fleet
from tests.faults.offspring import Offspring

WORKERS = 3
PLACES = 2
REPOSITORIES_A_ROUND = 6
LATEST_S = 0.3


async def pause_one(ships: Fleet, workers: list[Offspring], chance: random.Random) -> None:
    """All have their hands full; one is stopped for longer than its leases, and goes on."""
    await ships.submit(REPOSITORIES_A_ROUND)
    await ships.until_queue(lambda stats: stats.leased == WORKERS * PLACES or not stats.waiting)
    await asyncio.sleep(chance.uniform(0, LATEST_S))
    paused = chance.choice(workers)
    paused.signal(signal.SIGSTOP)
    await asyncio.sleep(LEASE_S * 1.5)
    paused.signal(signal.SIGCONT)
    await ships.drain()


def refusals(workers: list[Offspring]) -> int:
    """How many deliveries a worker heard of that they were no longer its own."""
    heard: set[tuple[int, str, int]] = set()
    for one in workers:
        for line in one.lines:
            if '"lease_lost"' in line:
                event = json.loads(line)
                heard.add((one.pid, event["message"], event["attempt"]))
    return len(heard)


async def pause_often(folder: Path, *, pauses: int, seed: int, tell: Tell) -> None:
    chance = random.Random(seed)
    kind = ENGINES["postgres"]
    with kind.make_store(folder) as location:
        async with fleet(folder, kind, location, slow_s=0.4) as ships:
            workers = [await ships.start() for _ in range(WORKERS)]
            for _ in range(pauses):
                await pause_one(ships, workers, chance)
            assert await ships.faults() == {}, f"seed {seed}"
            assert all(one.is_alive for one in workers)
            refused = refusals(workers)
    assert refused > 0
    tell(
        f"SIGSTOP of one of {WORKERS} workers past its leases, postgres: {pauses} pauses, {refused} deliveries refused to go on; "
        f"{len(ships.submitted)} repositories, {len(ships.submitted) * len(SKILLS)} skills published once each, 0 dead letters"
    )


async def test_each_skill_is_published_once__when_a_worker_was_paused(tmp_path: Path, tell: Tell) -> None:
    await pause_often(tmp_path, pauses=2, seed=1, tell=tell)


@pytest.mark.faults
@pytest.mark.timeout(3600)
async def test_each_skill_is_published_once__when_workers_were_paused_50_times(tmp_path: Path, tell: Tell) -> None:
    await pause_often(tmp_path, pauses=50, seed=2, tell=tell)
