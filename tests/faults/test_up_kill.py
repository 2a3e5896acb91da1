"""`kill -9` of the one process on SQLite, at random and at each step of the pipeline: the next one finishes what it held."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.faults.doom import POINTS, Doom, When
from tests.faults.engines import ENGINES
from tests.faults.figures import Tell, spread
from tests.faults.fleet import SKILLS, Fleet, fleet, submit_if_answered
from tests.faults.offspring import Offspring
from tests.faults.test_sigterm import wait_for_queue
from tests.faults.test_worker_kill import LATEST_S, choose_dooms
from vskill_platform.testing.waits import LOOK_S

REPOSITORIES_A_KILL = 2


async def kill_one(ships: Fleet, doom: Doom | None, chance: random.Random) -> tuple[str, float]:
    """Submit to a process that dies, and let the next one finish. Says where it died, and how long the rest took."""
    urls = [ships.next_address() for _ in range(REPOSITORIES_A_KILL)]
    doomed = await ships.start("up", doom=doom)
    for url in urls:
        await asyncio.to_thread(submit_if_answered, doomed.address, url)
    await _await_death(doomed, chance)
    after = await ships.start("up")
    for url in urls:
        identity = await asyncio.to_thread(submit_if_answered, after.address, url)
        assert identity is not None, after.explain()
        ships.submitted[identity] = url
    await asyncio.to_thread(wait_for_queue, after.address, waiting=0, leased=0, delayed=0)
    died_at = doomed.died_at
    assert died_at is not None, doomed.explain()
    recovered_s = time.time() - died_at
    after.kill()
    return (doomed.said("dying") or ["at random"])[0], recovered_s


async def _await_death(doomed: Offspring, chance: random.Random) -> None:
    """By its doom; otherwise, or if the step does not come a second time, by us."""
    if doomed.is_doomed:
        deadline = time.monotonic() + 10 * LATEST_S
        while doomed.is_alive and time.monotonic() < deadline:  # noqa: ASYNC110 - a process of somebody else has no event
            await asyncio.sleep(LOOK_S)
    else:
        await asyncio.sleep(chance.uniform(0, LATEST_S))
    doomed.kill()


async def kill_often(folder: Path, dooms: Sequence[Doom | None], *, seed: int, tell: Tell) -> None:
    chance = random.Random(seed)
    kind = ENGINES["sqlite"]
    deaths: Counter[str] = Counter()
    recoveries_s: list[float] = []
    with kind.make_store(folder / "data") as location:
        async with fleet(folder, kind, location) as ships:
            await ships.engine.close()
            for doom in dooms:
                place, recovered_s = await kill_one(ships, doom, chance)
                deaths[place] += 1
                recoveries_s.append(recovered_s)
            await ships.look_again(kind, location)
            assert await ships.faults() == {}, f"seed {seed}"
    steps = len(deaths) - ("at random" in deaths)
    tell(
        f"kill -9 of up, sqlite: {deaths.total()} kills, {deaths['at random']} of them at random and the others at {steps} "
        f"points of the pipeline; {len(ships.submitted)} repositories expanded and {len(ships.submitted) * len(SKILLS)} "
        f"skills published once each, 0 lost, 0 dead letters; from the kill until the next process had done all "
        f"{spread(recoveries_s)}"
    )


async def test_next_process_finishes__when_up_is_killed(tmp_path: Path, tell: Tell) -> None:
    steps = [Doom(POINTS[2], When.AFTER), Doom(POINTS[-1], When.BEFORE)]
    await kill_often(tmp_path, [*steps, None], seed=1, tell=tell)


@pytest.mark.faults
@pytest.mark.timeout(3600)
async def test_next_process_finishes__when_up_is_killed_at_each_step(tmp_path: Path, tell: Tell) -> None:
    await kill_often(tmp_path, choose_dooms(of_each=1, at_random=9, seed=2), seed=2, tell=tell)
