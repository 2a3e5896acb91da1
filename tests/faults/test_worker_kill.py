"""`kill -9` of workers, at random and at each step of the pipeline: others finish what they held, and nothing happens twice."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from tests.faults.doom import POINTS, Doom, When
from tests.faults.engines import ENGINES
from tests.faults.figures import Tell, spread
from tests.faults.fleet import LEASE_S, SKILLS, Fleet, fleet
from tests.faults.offspring import Offspring

DOOMED_AT_ONCE = 6
REPOSITORIES_A_ROUND = 4
LATEST_S = 0.8
STEPS = tuple(product(POINTS, When))
ROUNDS_WITHOUT_A_DEATH = 20


class Killing:
    """Rounds of work in which workers die, until there have been enough deaths of every kind."""

    def __init__(self, fleet: Fleet, chance: random.Random) -> None:
        self._fleet = fleet
        self._chance = chance
        self._alive: list[Offspring] = []
        self.deaths: Counter[str] = Counter()
        self.recoveries_s: list[float] = []

    async def go_on(self, dooms: Sequence[Doom | None]) -> None:
        """One round after the other until every doom has been met; None is a death at any moment."""
        waiting = list(dooms)
        idle = 0
        while waiting or self._alive:
            while waiting and len(self._alive) < DOOMED_AT_ONCE:
                self._alive.append(await self._fleet.start(doom=waiting.pop()))
            deaths = self.deaths.total()
            await self._round()
            idle = 0 if self.deaths.total() > deaths else idle + 1
            assert idle < ROUNDS_WITHOUT_A_DEATH, "some step never comes"

    async def _round(self) -> None:
        await self._fleet.submit(REPOSITORIES_A_ROUND)
        killers = [self._kill_soon(one) for one in self._alive if not one.is_doomed]
        await asyncio.gather(*killers)
        drained_at = await self._fleet.drain()
        for one in self._alive:
            if not one.is_alive:
                assert one.died_at is not None, one.explain()
                self.deaths[(one.said("dying") or ["at random"])[0]] += 1
                self.recoveries_s.append(drained_at - one.died_at)
        self._alive = [one for one in self._alive if one.is_alive]

    async def _kill_soon(self, one: Offspring) -> None:
        await asyncio.sleep(self._chance.uniform(0, LATEST_S))
        one.kill()


def choose_dooms(*, of_each: int, at_random: int, seed: int) -> list[Doom | None]:
    """So many deaths at every step, and so many at any moment, in any order."""
    chance = random.Random(seed)
    dooms: list[Doom | None] = [None] * at_random
    dooms += [Doom(point, when, chance.randint(1, 2)) for point, when in STEPS * of_each]
    chance.shuffle(dooms)
    return dooms


async def kill_often(folder: Path, dooms: Sequence[Doom | None], *, seed: int, tell: Tell) -> None:
    kind = ENGINES["postgres"]
    with kind.make_store(folder) as location:
        async with fleet(folder, kind, location) as ships:
            await ships.start(VSKILL_PLATFORM_BATCHES_IN_FLIGHT="1")
            killing = Killing(ships, random.Random(seed))
            await killing.go_on(dooms)
            assert await ships.faults() == {}, f"seed {seed}"
    steps = len(killing.deaths) - ("at random" in killing.deaths)
    tell(
        f"kill -9 of workers, postgres: {killing.deaths.total()} kills, {killing.deaths['at random']} of them at random and "
        f"the others at {steps} points of the pipeline; {len(ships.submitted)} repositories expanded and "
        f"{len(ships.submitted) * len(SKILLS)} skills published once each, 0 lost, 0 dead letters; from the kill until "
        f"nothing was left to do (lease {LEASE_S:g} s) {spread(killing.recoveries_s)}"
    )


async def test_others_finish__when_workers_are_killed_at_steps_and_at_random(tmp_path: Path, tell: Tell) -> None:
    """Each point once, and there before, in or after the call."""
    steps = [Doom(point, when) for point, when in zip(POINTS, [*When] * len(POINTS), strict=False)]
    await kill_often(tmp_path, [*steps, None, None, None], seed=1, tell=tell)


@pytest.mark.faults
@pytest.mark.timeout(3600)
async def test_others_finish__when_workers_are_killed_270_times(tmp_path: Path, tell: Tell) -> None:
    await kill_often(tmp_path, choose_dooms(of_each=7, at_random=81, seed=2), seed=2, tell=tell)
